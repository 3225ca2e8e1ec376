// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

/// Inputs of one attention call, checked and expanded to four dimensions.
namespace kymo::ops {

/// [batch, sequence, …] as [batch, 1, sequence, …]: inputs without a head dimension have one head. The result shares
/// storage.
inline at::Tensor with_heads(const at::Tensor& tensor, bool has_heads) {
  return has_heads ? tensor : tensor.unsqueeze(1);
}

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

/// Throw c10::ValueError or c10::TypeError unless the tensors are compatible. Sizes may be symbolic.
void check_inputs(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value);
void check_backward_inputs(const at::Tensor& output_gradient, const at::Tensor& query, const at::Tensor& key,
                           const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum_exp);

/// Type of the accumulators and of the log-sum-exp: fp64 for fp64, otherwise fp32.
inline at::ScalarType accumulator_of(at::ScalarType dtype) { return dtype == at::kDouble ? at::kDouble : at::kFloat; }

/// Query i sees key j if j <= i + offset.
inline std::int64_t causal_offset(std::int64_t query_length, std::int64_t key_length) {
  return key_length - query_length;
}

/// 1/√d by default. Throws c10::ValueError unless the scale is finite.
double resolve_scale(std::optional<double> given, std::int64_t width);

}  // namespace kymo::ops
