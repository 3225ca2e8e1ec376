// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

/// One call of attention with its inputs checked and brought to four dimensions.
namespace kymo::ops {

/// [batch, sequence, …] as [batch, 1, sequence, …]: a call without heads has one. The result shares memory.
inline at::Tensor with_heads(const at::Tensor& tensor, bool has_heads) {
  return has_heads ? tensor : tensor.unsqueeze(1);
}

/// What an implementation needs beside the tensors.
struct Setting {
  bool causal = false;
  double scale = 1;
  bool deterministic = false;
};

/// Forward pass: query is [batch, query_heads, query_length, d], key and value are [batch, key_heads, key_length, d],
/// and query_heads is a multiple of key_heads. `output` is shaped as query, `log_sum_exp` is [batch, query_heads,
/// query_length]; both are to be filled.
struct ForwardTensors {
  at::Tensor query, key, value;
  at::Tensor output, log_sum_exp;
};

/// Backward pass: the same with the gradient of the output; the gradients of query, key and value are to be filled.
struct BackwardTensors {
  at::Tensor output_gradient, query, key, value, output, log_sum_exp;
  at::Tensor query_gradient, key_gradient, value_gradient;
};

/// Throw c10::ValueError or c10::TypeError unless the tensors fit together; they may be symbolic (sizes not known yet).
void check_inputs(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value);
void check_backward_inputs(const at::Tensor& output_gradient, const at::Tensor& query, const at::Tensor& key,
                           const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum_exp);

/// The type in which sums are kept and of the log-sum-exp: fp64 for fp64, else fp32.
inline at::ScalarType accumulator_of(at::ScalarType dtype) { return dtype == at::kDouble ? at::kDouble : at::kFloat; }

/// Query i sees key j if j <= i + offset.
inline std::int64_t causal_offset(std::int64_t query_length, std::int64_t key_length) {
  return key_length - query_length;
}

/// 1/√d unless given. Throws c10::ValueError unless it is finite.
double resolve_scale(std::optional<double> given, std::int64_t width);

}  // namespace kymo::ops
