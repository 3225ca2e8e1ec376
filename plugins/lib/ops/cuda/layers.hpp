// SPDX-License-Identifier: Apache-2.0
// Fused layers as CUDA kernels behind a plain C++ interface, without LibTorch or CUDA headers. Like those of flash.hpp,
// every call uses the current device, queues kernels on `stream`, allocates nothing and keeps no state. All pointers
// are device pointers on 16-byte boundaries to contiguous memory, unless stated otherwise; no dimension is 0. Returns a
// one-line error message, empty on success.
#pragma once
#include <cstdint>
#include <string>

#include "flash.hpp"

namespace kymo::layers {

using flash::Element;
using flash::Stream;

/// Whether the current device has compute capability 8.0 or later.
KYMO_KERNELS_API bool device_supported();

constexpr int kVectorBytes = 16;
constexpr int64_t kMaxNormWidth = 8192;

constexpr int bytes_of(Element element) { return element == Element::kFloat32 ? 4 : 2; }

/// Types of the residual stream, of the branch (the result, and x if a residual is added) and of the weight. The branch
/// has the type of the stream, or any if the stream is fp32; the weight has the type of the stream or fp32.
struct NormTypes {
  Element stream, branch, weight;
};

/// sum = residual + x (if there is a residual), y = sum / sqrt(mean(sum^2) + epsilon) * weight. The width is a multiple
/// of 16 bytes of the stream's type, at most kMaxNormWidth.
struct RmsNorm {
  NormTypes types;
  int64_t rows = 0, width = 0;
  float epsilon = 0;
  const void *x = nullptr, *residual = nullptr, *weight = nullptr;
  void *y = nullptr, *sum = nullptr;
};

struct RmsNormBackward {
  NormTypes types;
  int64_t rows = 0, width = 0;
  float epsilon = 0;
  const void* gradient = nullptr;      ///< branch type
  const void* sum_gradient = nullptr;  ///< stream type; may be null
  const void *x = nullptr, *weight = nullptr;
  void *x_gradient = nullptr, *weight_gradient = nullptr;
  float* partials = nullptr;  ///< partial_rows() x width, for the sums of the weight gradient
};

/// Rows of `partials`, one per block.
KYMO_KERNELS_API int64_t partial_rows(const RmsNormBackward& call);

/// rows x 2 width to rows x width, or backward: gradient and joint to `to`, rows x 2 width. The width is a multiple of
/// 16 bytes.
struct SwiGlu {
  Element element;
  int64_t rows = 0, width = 0;
  const void *gradient = nullptr, *joint = nullptr;  ///< gradient: null in the forward pass
  void* to = nullptr;
};

/// Rotates query, key and value (batch, heads, sequence, d) into `joint` (batch, sequence, 3, heads, d). Strides are in
/// elements, and multiples of 16 bytes; d is a multiple of 16 bytes. Without a value, query and key only.
struct Rotary {
  Element element;
  int64_t batch = 0, sequence = 0, heads = 0, d = 0;
  struct Part {
    const void* at = nullptr;
    int64_t batch_stride = 0, head_stride = 0, row_stride = 0;
  };
  Part query, key, value;
  const float* rotation = nullptr;  ///< (sequence, d / 2, 2): cosine and sine
  void* joint = nullptr;
  bool inverse = false;
};

/// One parameter of AdamW; pointers need no alignment beyond that of their elements.
struct AdamWTensor {
  void *parameter = nullptr, *gradient = nullptr, *mean = nullptr, *square_mean = nullptr;
  void* copy = nullptr;   ///< receives the updated parameter in the narrow type; may be null
  float* step = nullptr;  ///< before the update
  int64_t elements = 0;
  bool narrow_gradient = false;  ///< in the narrow type, not in that of the parameter
};

struct AdamW {
  const AdamWTensor* tensors = nullptr;  ///< in host memory
  int64_t count = 0;
  Element parameter, state;  ///< state: the type of the moments, that of the parameter or fp32
  Element narrow;            ///< the type of copies and narrow gradients; that of the parameter unless that is fp32
  double learning_rate = 0, beta1 = 0, beta2 = 0, epsilon = 0, weight_decay = 0;
  const float* gradient_norm = nullptr;  ///< if null, gradients are not clipped
  double max_norm = 1;
  bool zero_gradients = false;
};

/// loss = log(sum(exp(logits))) - logits[target] of each row, NaN if the target is not in [0, classes). Unless scale is
/// 0, the logits are replaced by scale times the gradient of the loss.
struct CrossEntropy {
  Element element;
  int64_t rows = 0, classes = 0, row_stride = 0;  ///< row_stride: in elements, a multiple of 16 bytes, >= classes
  void* logits = nullptr;
  const int64_t* target = nullptr;
  float* losses = nullptr;
  float scale = 0;
};

/// to = from * *factor, rounded to the type of `element`.
struct Scale {
  Element element;
  int64_t elements = 0;
  const float *from = nullptr, *factor = nullptr;  ///< factor: needs no alignment beyond that of a float
  void* to = nullptr;
};

KYMO_KERNELS_API std::string launch(const RmsNorm& call, Stream stream);
KYMO_KERNELS_API std::string launch(const RmsNormBackward& call, Stream stream);
KYMO_KERNELS_API std::string launch(const SwiGlu& call, Stream stream);
KYMO_KERNELS_API std::string launch(const Rotary& call, Stream stream);
KYMO_KERNELS_API std::string launch(const AdamW& call, Stream stream);
KYMO_KERNELS_API std::string launch(const CrossEntropy& call, Stream stream);
KYMO_KERNELS_API std::string launch(const Scale& call, Stream stream);

}  // namespace kymo::layers
