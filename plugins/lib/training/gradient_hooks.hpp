// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace kymo::training {

/// Calls back in each backward pass as soon as the gradient of a parameter is complete, with the parameter's index:
/// once, also where several layers share the parameter, and not at all where the loss does not depend on it. The call
/// comes on the thread that runs the backward pass (on a GPU the device's own thread of autograd) with the stream of
/// the gradient as the current one, one at a time; an exception ends the backward pass. A tensor has one such hook:
/// these replace those that were set before.
class GradientHooks {
 public:
  GradientHooks(std::vector<at::Tensor> parameters, const std::function<void(std::size_t index)>& on_ready);
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;
  ~GradientHooks();

 private:
  std::vector<at::Tensor> parameters_;
};

/// The gradient of a parameter; one of zeros is made where the backward pass left none, so that every rank has
/// something to send.
const at::Tensor& gradient_or_zeros(const at::Tensor& parameter);

/// Before a step: a dropped gradient is written by the backward pass without being zeroed, read and added to.
void drop_gradients(const std::vector<at::Tensor>& parameters);

}  // namespace kymo::training
