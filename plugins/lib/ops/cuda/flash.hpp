// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 (Dao 2023) as CUDA kernels behind a plain C++ interface, without LibTorch or CUDA headers.
//
//  o = softmax(scale * q k^T [causal]) v,   lse = log-sum-exp of each row of scale * q k^T (natural logarithm)
//
// Every call uses the current device, queues kernels on `stream` and returns immediately. Calls allocate no memory and
// keep no state: they may run concurrently on several streams and devices and be captured into CUDA graphs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#define KYMO_KERNELS_API __attribute__((visibility("default")))

struct CUstream_st;

namespace kymo::flash {

using Stream = CUstream_st*;  ///< cudaStream_t

enum class Element { kFloat32, kBfloat16, kFloat16 };

/// Kernel family. kAutomatic takes the first matching row of the table in choice.cpp.
enum class Path {
  kAutomatic,
  kHopper,    ///< wgmma and TMA: compute capability 9.0, bf16 and fp16
  kPortable,  ///< mma.sync and cp.async: compute capability 8.0 and later, bf16 and fp16
  kFloat,     ///< fp32 from three TF32 products: compute capability 8.0 and later
};

/// A tensor (batch, heads, rows, d) in device memory. Strides are in elements; the d elements of a row are contiguous.
/// Rows must start on 16-byte boundaries (the address, and the strides of dimensions of size above 1).
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
  Element element = Element::kBfloat16;  ///< type of all tensors except lse
  bool causal = false;                   ///< query i sees key j when j <= i + seq_k - seq_q (bottom-right aligned)
  float scale = 0;                       ///< finite and above 0
};

/// A row that sees no key gets o = 0 and lse = -inf, and zero gradients.
struct Forward {
  Problem problem;
  Input q, k, v;
  Output o;
  float* lse = nullptr;       ///< (batch, heads_q, seq_q), contiguous
  void* workspace = nullptr;  ///< as Backward::workspace; if null, calls with few or short rows are slower
  Path path = Path::kAutomatic;
  int variant = -1;  ///< row index in the table in choice.cpp; -1: select automatically
};

struct Backward {
  Problem problem;
  Input q, k, v, o, d_o;
  const float* lse = nullptr;  ///< from the forward call
  Output dq, dk, dv;           ///< every element is written; gradients of grouped heads are summed
  bool deterministic = false;  ///< bitwise equal results in every call on the same GPU model
  /// workspace_bytes() bytes, 256-byte aligned, in use until the stream completes the call; may be null for 0 bytes
  void* workspace = nullptr;
  Path path = Path::kAutomatic;
  int variant = -1;  ///< as Forward::variant; a nondeterministic one rejects deterministic calls
};

/// Whether the current device supports a launch with these parameters; if not, *reason receives a one-line explanation.
KYMO_KERNELS_API bool supported(const Forward& call, std::string* reason = nullptr);
KYMO_KERNELS_API bool supported(const Backward& call, std::string* reason = nullptr);

/// Size in bytes of the `workspace` for a launch; 0 if the call needs none or is not supported.
KYMO_KERNELS_API size_t workspace_bytes(const Forward& call);
KYMO_KERNELS_API size_t workspace_bytes(const Backward& call);

/// Name of the kernels that a launch uses, such as "hopper_forward_d64_192x128"; empty if the call is not supported.
KYMO_KERNELS_API std::string kernel_name(const Forward& call);
KYMO_KERNELS_API std::string kernel_name(const Backward& call);

/// Queue the kernels. Return a one-line error message, empty on success.
KYMO_KERNELS_API std::string launch_forward(const Forward& call, Stream stream);
KYMO_KERNELS_API std::string launch_backward(const Backward& call, Stream stream);

}  // namespace kymo::flash
