// SPDX-License-Identifier: Apache-2.0
#include "ops/problem.hpp"

#include <cmath>

namespace kymo::ops {
namespace {

bool is_supported(at::ScalarType dtype) {
  return dtype == at::kFloat || dtype == at::kBFloat16 || dtype == at::kHalf || dtype == at::kDouble;
}

/// `name` is the operator's argument name: q, k, v …
void check_alike(const char* name, const at::Tensor& tensor, const at::Tensor& query) {
  TORCH_CHECK_VALUE(tensor.dim() == query.dim(), "attention: ", name, " has ", tensor.dim(), " dimensions but q has ",
                    query.dim(), "; they must be equal");
  TORCH_CHECK_TYPE(tensor.scalar_type() == query.scalar_type(), "attention: ", name, " is ", tensor.scalar_type(),
                   " but q is ", query.scalar_type(), "; they must have the same type");
  TORCH_CHECK_VALUE(tensor.device() == query.device(), "attention: ", name, " is on ", tensor.device(), " but q is on ",
                    query.device(), "; they must be on the same device");
}

void check_contiguous_rows(const char* name, const at::Tensor& tensor) {
  TORCH_CHECK_VALUE(tensor.sym_size(-1) == 1 || tensor.sym_stride(-1) == 1, "attention: the last dimension of ", name,
                    " has stride ", tensor.sym_stride(-1), "; it must be contiguous, call .contiguous()");
}

void check_same_sizes(const char* name, const at::Tensor& tensor, const char* other_name, const at::Tensor& other) {
  TORCH_CHECK_VALUE(tensor.sym_sizes().equals(other.sym_sizes()), "attention: ", name, " is ", tensor.sym_sizes(),
                    " but ", other_name, " is ", other.sym_sizes(), "; they must have the same shape");
}

}  // namespace

void check_inputs(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  TORCH_CHECK_VALUE(query.dim() == 3 || query.dim() == 4, "attention: q has ", query.dim(),
                    " dimensions; it must be [batch, sequence, d] or [batch, heads, sequence, d]");
  TORCH_CHECK_TYPE(is_supported(query.scalar_type()), "attention: q is ", query.scalar_type(),
                   "; it must be Float, BFloat16, Half or Double");
  check_alike("k", key, query);
  check_alike("v", value, query);
  check_same_sizes("v", value, "k", key);
  TORCH_CHECK_VALUE(key.sym_size(0) == query.sym_size(0), "attention: q has batch size ", query.sym_size(0),
                    " but k has ", key.sym_size(0), "; they must be equal");
  TORCH_CHECK_VALUE(key.sym_size(-1) == query.sym_size(-1), "attention: q has d = ", query.sym_size(-1), " but k has ",
                    key.sym_size(-1), "; they must be equal");
  TORCH_CHECK_VALUE(query.sym_size(-1) >= 1, "attention: d is 0; it must be at least 1");
  TORCH_CHECK_VALUE(query.sym_size(-2) >= 1 && key.sym_size(-2) >= 1, "attention: q has length ", query.sym_size(-2),
                    " and k has ", key.sym_size(-2), "; both must be at least 1");
  if (query.dim() == 4) {
    const c10::SymInt heads = query.sym_size(1), key_heads = key.sym_size(1);
    TORCH_CHECK_VALUE(key_heads >= 1 && heads % key_heads == 0, "attention: q has ", heads, " heads and k has ",
                      key_heads, "; the heads of q must be a multiple of those of k");
  }
  check_contiguous_rows("q", query);
  check_contiguous_rows("k", key);
  check_contiguous_rows("v", value);
}

void check_backward_inputs(const at::Tensor& output_gradient, const at::Tensor& query, const at::Tensor& key,
                           const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum_exp) {
  check_inputs(query, key, value);
  check_alike("do", output_gradient, query);
  check_alike("o", output, query);
  check_same_sizes("do", output_gradient, "q", query);
  check_same_sizes("o", output, "q", query);
  const auto rows = query.sym_sizes().slice(0, static_cast<std::size_t>(query.dim() - 1));
  TORCH_CHECK_VALUE(log_sum_exp.sym_sizes().equals(rows), "attention: lse is ", log_sum_exp.sym_sizes(),
                    "; it must be ", rows, ", one value per row of q");
  const at::ScalarType wanted = accumulator_of(query.scalar_type());
  TORCH_CHECK_TYPE(log_sum_exp.scalar_type() == wanted, "attention: lse is ", log_sum_exp.scalar_type(),
                   "; it must be ", wanted, ", as returned by attention_forward");
  TORCH_CHECK_VALUE(log_sum_exp.device() == query.device(), "attention: lse is on ", log_sum_exp.device(),
                    " but q is on ", query.device(), "; they must be on the same device");
}

double resolve_scale(std::optional<double> given, std::int64_t width) {
  if (!given) return 1 / std::sqrt(static_cast<double>(width));
  TORCH_CHECK_VALUE(std::isfinite(*given), "attention: scale is ", *given, "; it must be finite");
  return *given;
}

}  // namespace kymo::ops
