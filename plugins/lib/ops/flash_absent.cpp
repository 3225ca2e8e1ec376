// SPDX-License-Identifier: Apache-2.0
// Replaces flash_calls.cpp if there is no CUDA compiler. The rest of the library is unchanged.
#include "ops/kernels.hpp"

namespace kymo::ops::flash {

std::string unsupported_reason(const at::Tensor& query, const at::Tensor&, const Setting&, Direction) {
  if (!query.device().is_cuda()) return "requires CUDA tensors, but q is on " + query.device().str();
  return "is not available: kymo was built without a CUDA compiler";
}

void forward(const ForwardTensors& tensors, const Setting& setting) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "attention: flash ",
                              unsupported_reason(tensors.query, tensors.key, setting, Direction::kForward));
}

void backward(const BackwardTensors& tensors, const Setting& setting) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "attention: flash ",
                              unsupported_reason(tensors.query, tensors.key, setting, Direction::kBackward));
}

}  // namespace kymo::ops::flash
