// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

/// Inputs of one attention call, checked and expanded to four dimensions.
namespace kymo::ops {

/// Parameters of an implementation other than tensors.
struct Setting {
  bool causal = false;
  double scale = 1;
  bool deterministic = false;
};

/// Forward pass: query is [batch, query_heads, query_length, d], key and value are [batch, key_heads, key_length, d],
/// and query_heads is a multiple of key_heads. Outputs: `output`, shaped like query, and `log_sum_exp`, [batch,
/// query_heads, query_length].
struct ForwardTensors {
  at::Tensor query, key, value;
  at::Tensor output, log_sum_exp;
};

/// Backward pass: the same tensors and the gradient of the output as inputs; the gradients of query, key and value as
/// outputs.
struct BackwardTensors {
  at::Tensor output_gradient, query, key, value, output, log_sum_exp;
  at::Tensor query_gradient, key_gradient, value_gradient;
};

/// Type of the accumulators and of the log-sum-exp: fp64 for fp64, otherwise fp32.
inline at::ScalarType accumulator_of(at::ScalarType dtype) { return dtype == at::kDouble ? at::kDouble : at::kFloat; }

/// Query i sees key j if j <= i + offset.
inline std::int64_t causal_offset(std::int64_t query_length, std::int64_t key_length) {
  return key_length - query_length;
}

}  // namespace kymo::ops

/// Reference attention that materializes all scores: short, slow for long sequences, used to check the other
/// implementations.
namespace kymo::ops::naive {

void forward(const ForwardTensors& tensors, const Setting& setting);
/// Recomputes the scores and their softmax; the log-sum-exp is not used.
void backward(const BackwardTensors& tensors, const Setting& setting);

}  // namespace kymo::ops::naive

/// FlashAttention-2 in tensor operations, tile by tile as published: exact attention on every LibTorch device, with
/// memory linear instead of quadratic in the sequence length. T. Dao, "FlashAttention-2: Faster Attention with Better
/// Parallelism and Work Partitioning", 2023 (arXiv 2307.08691), algorithms 1 and 2.
namespace kymo::ops::tiled {

void forward(const ForwardTensors& tensors, const Setting& setting);
void backward(const BackwardTensors& tensors, const Setting& setting);

}  // namespace kymo::ops::tiled

/// Tensor interface to the CUDA kernels: strides, streams, workspace, and the reason if they do not support a call.
namespace kymo::ops::flash {

enum class Direction { kForward, kBackward };

/// Empty if the kernels support tensors [batch, heads, sequence, d] with these properties; otherwise an error message
/// to append to "flash ".
std::string unsupported_reason(const at::Tensor& query, const at::Tensor& key, const Setting& setting,
                               Direction direction);

/// Queue the kernels on LibTorch's current stream of query's device. Throw c10::Error if the kernels reject the call or
/// fail to launch.
void forward(const ForwardTensors& tensors, const Setting& setting);
void backward(const BackwardTensors& tensors, const Setting& setting);

}  // namespace kymo::ops::flash

/// The operator implementations, one for all devices, and shape inference (Meta). Arguments are those of the operator
/// schemas.
namespace kymo::ops {

std::tuple<at::Tensor, at::Tensor> forward_kernel(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                                  bool causal, std::optional<double> scale,
                                                  std::string_view implementation);
std::tuple<at::Tensor, at::Tensor> forward_shapes(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                                  bool causal, std::optional<double> scale,
                                                  std::string_view implementation);

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward_kernel(const at::Tensor& output_gradient, const at::Tensor& q,
                                                               const at::Tensor& k, const at::Tensor& v,
                                                               const at::Tensor& o, const at::Tensor& lse, bool causal,
                                                               std::optional<double> scale,
                                                               std::string_view implementation, bool deterministic);
std::tuple<at::Tensor, at::Tensor, at::Tensor> backward_shapes(const at::Tensor& output_gradient, const at::Tensor& q,
                                                               const at::Tensor& k, const at::Tensor& v,
                                                               const at::Tensor& o, const at::Tensor& lse, bool causal,
                                                               std::optional<double> scale,
                                                               std::string_view implementation, bool deterministic);

}  // namespace kymo::ops
