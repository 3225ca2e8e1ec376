// SPDX-License-Identifier: Apache-2.0
#include "training/gradient_hooks.hpp"

#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <memory>
#include <utility>

namespace kymo::training {
namespace {

class ReadyHook final : public torch::autograd::PostAccumulateGradHook {
 public:
  ReadyHook(std::size_t index, std::function<void(std::size_t)> on_ready)
      : index_(index), on_ready_(std::move(on_ready)) {}
  void operator()(const at::Tensor&) override { on_ready_(index_); }

 private:
  std::size_t index_;
  std::function<void(std::size_t)> on_ready_;
};

}  // namespace

GradientHooks::GradientHooks(std::vector<at::Tensor> parameters, const std::function<void(std::size_t index)>& on_ready)
    : parameters_(std::move(parameters)) {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i], std::make_unique<ReadyHook>(i, on_ready));
}

GradientHooks::~GradientHooks() {
  for (const at::Tensor& parameter : parameters_) torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
}

const at::Tensor& gradient_or_zeros(const at::Tensor& parameter) {
  at::Tensor& gradient = parameter.mutable_grad();
  if (!gradient.defined()) gradient = at::zeros_like(parameter, parameter.options().requires_grad(false));
  return gradient;
}

void drop_gradients(const std::vector<at::Tensor>& parameters) {
  for (const at::Tensor& parameter : parameters) parameter.mutable_grad().reset();
}

}  // namespace kymo::training
