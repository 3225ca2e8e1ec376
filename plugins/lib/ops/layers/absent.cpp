// SPDX-License-Identifier: Apache-2.0
// Replaces calls.cpp if there is no CUDA compiler: all layers consist of LibTorch's operators.
#include "ops/layers/kernels.hpp"

namespace kymo::ops {

namespace layer_kernels {

bool rms_norm(const RmsNormTensors&) { return false; }
bool rms_norm_backward(const RmsNormBackwardTensors&) { return false; }
bool swiglu(const at::Tensor&, const at::Tensor&) { return false; }
bool swiglu_backward(const at::Tensor&, const at::Tensor&, const at::Tensor&) { return false; }
bool rotary(const RotaryTensors&) { return false; }
bool adamw(const AdamWTensors&, const AdamWOptions&) { return false; }
bool cross_entropy(const at::Tensor&, const at::Tensor&, const at::Tensor&, double) { return false; }
bool scale(const at::Tensor&, const at::Tensor&, const at::Tensor&) { return false; }

}  // namespace layer_kernels

std::string why_no_kernel(const at::Tensor&, std::int64_t) { return "kymo was built without a CUDA compiler"; }

}  // namespace kymo::ops
