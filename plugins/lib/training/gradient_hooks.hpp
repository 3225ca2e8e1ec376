// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace kymo::training {

/// Calls back with the parameter's index in each backward pass as soon as its gradient is complete: once, even if
/// several layers share the parameter, and not at all if the loss does not depend on it. The callback runs on the
/// thread of the backward pass (on a GPU, the device's autograd thread) with the gradient's stream as the current
/// stream, one at a time. An exception aborts the backward pass. A tensor has one such hook: it replaces any previous
/// one.
class GradientHooks {
 public:
  GradientHooks(std::vector<at::Tensor> parameters, const std::function<void(std::size_t index)>& on_ready);
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;
  ~GradientHooks();

 private:
  std::vector<at::Tensor> parameters_;
};

/// The gradient of a parameter. If the backward pass produced none, it is set to zeros, so that every rank has
/// something to send.
const at::Tensor& gradient_or_zeros(const at::Tensor& parameter);

/// Call before a step: the backward pass then writes a dropped gradient without zeroing, reading or accumulating.
void drop_gradients(const std::vector<at::Tensor>& parameters);

}  // namespace kymo::training
