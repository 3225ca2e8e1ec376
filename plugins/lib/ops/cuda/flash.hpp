// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 (Dao 2023) as CUDA kernels, behind plain C++: no LibTorch, no CUDA header.
//   o = softmax(scale * q k^T [causal]) v,   lse = log-sum-exp of each row of scale * q k^T (natural logarithm)
// Every call acts on the current device, queues kernels on `stream` and returns at once. Nothing is allocated, no state
// is kept between calls: calls may run at once on several streams and devices and be captured into CUDA graphs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

struct CUstream_st;

namespace kymo::flash {

using Stream = CUstream_st*;  ///< cudaStream_t

enum class Element { kFloat32, kBfloat16, kFloat16 };

/// Which kernels run. kAutomatic takes the first of the table in choice.cpp that fits.
enum class Path {
  kAutomatic,
  kHopper,    ///< wgmma and TMA: compute capability 9.0, bf16 and fp16
  kPortable,  ///< mma.sync and cp.async: compute capability 8.0 and later, bf16 and fp16
  kFloat,     ///< fp32 from three TF32 products: compute capability 8.0 and later
};

/// A tensor (batch, heads, rows, d) in device memory. Strides count elements; the d elements of a row lie side by side.
/// Rows must start on 16-byte boundaries (address, and strides of sizes above 1).
template <class Pointer>
struct Tensor {
  Pointer at = nullptr;
  int64_t batch_stride = 0, head_stride = 0, row_stride = 0;
};
using Input = Tensor<const void*>;
using Output = Tensor<void*>;

struct Problem {
  int64_t batch = 0, heads_q = 0,
          heads_kv = 0;                  ///< query heads h of a group share key/value head h / (heads_q / heads_kv)
  int64_t seq_q = 0, seq_k = 0, d = 0;   ///< d: a multiple of 8 from 8 to 256
  Element element = Element::kBfloat16;  ///< of every tensor but lse
  bool causal = false;                   ///< query i sees key j when j <= i + seq_k - seq_q (bottom-right aligned)
  float scale = 0;                       ///< finite and above 0
};

/// A row that sees no key gets o = 0 and lse = -inf, and zero gradients.
struct Forward {
  Problem problem;
  Input q, k, v;
  Output o;
  float* lse = nullptr;       ///< (batch, heads_q, seq_q), contiguous
  void* workspace = nullptr;  ///< as Backward::workspace; may be null, then calls of few or short rows run slower
  Path path = Path::kAutomatic;
  int variant = -1;  ///< row of the table in choice.cpp, by number from 0; -1: the table's own choice
};

struct Backward {
  Problem problem;
  Input q, k, v, o, d_o;
  const float* lse = nullptr;  ///< as the forward call wrote it
  Output dq, dk, dv;           ///< every element is written; those of grouped heads are summed
  bool deterministic = false;  ///< bitwise the same result in every call on one kind of GPU
  void* workspace =
      nullptr;  ///< workspace_bytes() bytes, 256-byte aligned, free again when the stream has passed the call
  Path path = Path::kAutomatic;
  int variant = -1;  ///< as Forward::variant; one that is not deterministic does not take a call that asks for it
};

/// Whether a launch of these parameters would be accepted on the current device; if not, one line in *reason says why.
bool supported(const Forward& call, std::string* reason = nullptr);
bool supported(const Backward& call, std::string* reason = nullptr);

/// Bytes of device memory that a launch wants in `workspace`; 0 for a call that needs none or is not supported.
size_t workspace_bytes(const Forward& call);
size_t workspace_bytes(const Backward& call);

/// Name of the kernels that a launch takes, such as "hopper_d128_176"; empty for a call that is not supported.
std::string kernel_name(const Forward& call);
std::string kernel_name(const Backward& call);

/// Queues the kernels. Returns what went wrong as one line, or an empty text.
std::string launch_forward(const Forward& call, Stream stream);
std::string launch_backward(const Backward& call, Stream stream);

}  // namespace kymo::flash
