// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>

namespace kymo::libtorch {

/// Calls each MKL-backed vector function once from a single thread. On CPU, LibTorch computes elementwise functions of
/// contiguous float and double tensors with MKL, which selects a kernel for each function at its first call. If several
/// threads make that first call concurrently, one of them may run the least accurate kernel once, with relative errors
/// of 1e-4 (github.com/pytorch/pytorch/issues/188792). Any thread; subsequent calls cost nothing.
inline void settle_vector_functions() {
  using Function = at::Tensor& (at::Tensor::*)() const;
  // The functions that ATen/cpu/vml.h delegates to MKL.
  static constexpr Function kFunctions[] = {
      &at::Tensor::acos_, &at::Tensor::asin_,  &at::Tensor::atan_,   &at::Tensor::cos_,
      &at::Tensor::erf_,  &at::Tensor::erfc_,  &at::Tensor::erfinv_, &at::Tensor::exp_,
      &at::Tensor::log_,  &at::Tensor::log10_, &at::Tensor::log2_,   &at::Tensor::sin_,
      &at::Tensor::sqrt_, &at::Tensor::tan_,   &at::Tensor::tanh_,   &at::Tensor::trunc_,
  };
  [[maybe_unused]] static const bool settled = [] {
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      const at::Tensor number = at::ones({1}, type);
      for (const Function function : kFunctions) (number.*function)();
    }
    return true;
  }();
}

}  // namespace kymo::libtorch
