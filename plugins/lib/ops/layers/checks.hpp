// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "ops/layers.hpp"

namespace kymo::ops::layer_checks {

/// Type of sums: fp64 for fp64, otherwise fp32.
inline at::ScalarType sum_type(at::ScalarType dtype) { return dtype == at::kDouble ? at::kDouble : at::kFloat; }

inline void check_type(const char* layer, const char* name, const at::Tensor& tensor) {
  const at::ScalarType dtype = tensor.scalar_type();
  TORCH_CHECK_TYPE(dtype == at::kFloat || dtype == at::kDouble || is_narrow(dtype), layer, ": ", name, " is ", dtype,
                   "; it must be Float, BFloat16, Half or Double");
}

inline void check_same_type(const char* layer, const char* name, const at::Tensor& tensor, at::ScalarType required) {
  TORCH_CHECK_TYPE(tensor.scalar_type() == required, layer, ": ", name, " is ", tensor.scalar_type(), "; it must be ",
                   required);
}

/// Allows `required` and, for bf16 and fp16, also fp32.
inline void check_type_or_float(const char* layer, const char* name, const at::Tensor& tensor,
                                at::ScalarType required) {
  const bool is_wider = is_narrow(required) && tensor.scalar_type() == at::kFloat;
  TORCH_CHECK_TYPE(tensor.scalar_type() == required || is_wider, layer, ": ", name, " is ", tensor.scalar_type(),
                   "; it must be ", required, is_narrow(required) ? " or Float" : "");
}

inline void check_device(const char* layer, const char* name, const at::Tensor& tensor, const at::Tensor& first) {
  TORCH_CHECK_VALUE(tensor.device() == first.device(), layer, ": ", name, " is on ", tensor.device(),
                    " but other inputs are on ", first.device(), "; they must be on the same device");
}

inline void check_sizes(const char* layer, const char* name, const at::Tensor& tensor, c10::SymIntArrayRef required) {
  TORCH_CHECK_VALUE(tensor.sym_sizes().equals(required), layer, ": ", name, " is ", tensor.sym_sizes(), "; it must be ",
                    required);
}

}  // namespace kymo::ops::layer_checks
