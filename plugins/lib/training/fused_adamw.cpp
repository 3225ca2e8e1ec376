// SPDX-License-Identifier: Apache-2.0
#include "training/fused_adamw.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/optim/adamw.h>

#include <kymo/torch.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "ops/layers.hpp"

namespace kymo::training {
namespace {

using torch::optim::OptimizerParamGroup;

void require(bool holds, const char* name, double value, const char* range) {
  if (!holds)
    throw std::invalid_argument(std::string("AdamW's ") + name + " is " + std::to_string(value) + "; it must be " +
                                range);
}

const AdamWSetting& checked(const AdamWSetting& setting) {
  require(setting.learning_rate >= 0, "learning_rate", setting.learning_rate, "at least 0");
  require(setting.beta1 >= 0 && setting.beta1 < 1, "beta1", setting.beta1, "in [0, 1)");
  require(setting.beta2 >= 0 && setting.beta2 < 1, "beta2", setting.beta2, "in [0, 1)");
  require(setting.epsilon >= 0, "epsilon", setting.epsilon, "at least 0");
  require(setting.weight_decay >= 0, "weight_decay", setting.weight_decay, "at least 0");
  return setting;
}

const AdamWSetting& setting_of(const OptimizerParamGroup& group) {
  return dynamic_cast<const AdamWSetting&>(group.options());
}

}  // namespace

FusedAdamW::FusedAdamW(std::vector<at::Tensor> parameters, const AdamWSetting& setting)
    : Optimizer(std::move(parameters), std::make_unique<AdamWSetting>(checked(setting))) {}

FusedAdamW::FusedAdamW(const std::vector<OptimizerParamGroup>& groups, const AdamWSetting& defaults)
    : Optimizer(groups, std::make_unique<AdamWSetting>(checked(defaults))) {}

void FusedAdamW::make_state() {
  for (const OptimizerParamGroup& group : param_groups_)
    for (const at::Tensor& parameter : group.params()) state_for(parameter);
}

void FusedAdamW::warm_up() const {
  for (const OptimizerParamGroup& group : param_groups_) {
    if (group.params().empty()) continue;
    const at::Tensor stand_in = at::zeros({1}, group.params().front().options().requires_grad(false));
    stand_in.mutable_grad() = at::zeros_like(stand_in);
    FusedAdamW({stand_in}, setting_of(group)).step();
  }
}

at::Tensor FusedAdamW::step(LossClosure closure) {
  const c10::NoGradGuard no_gradients;
  at::Tensor loss;
  if (closure) {
    const c10::AutoGradMode with_gradients(true);
    loss = closure();
  }
  for (const OptimizerParamGroup& group : param_groups_) update(group);
  return loss;
}

void FusedAdamW::update(const OptimizerParamGroup& group) {
  std::vector<at::Tensor> parameters, gradients, means, square_means, steps;
  for (auto* list : {&parameters, &gradients, &means, &square_means, &steps}) list->reserve(group.params().size());
  for (const at::Tensor& parameter : group.params()) {
    const at::Tensor& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    const AdamWState& state = state_for(parameter);
    parameters.push_back(parameter);
    gradients.push_back(gradient);
    means.push_back(state.mean);
    square_means.push_back(state.square_mean);
    steps.push_back(state.step);
  }
  if (parameters.empty()) return;
  const AdamWSetting& setting = setting_of(group);
  if (setting.own_kernel) {
    ops::adamw_(parameters, gradients, means, square_means, steps,
                {.learning_rate = setting.learning_rate,
                 .beta1 = setting.beta1,
                 .beta2 = setting.beta2,
                 .epsilon = setting.epsilon,
                 .weight_decay = setting.weight_decay});
    return;
  }
  at::_foreach_add_(steps, 1);
  at::_fused_adamw_(parameters, gradients, means, square_means, {}, steps, setting.learning_rate, setting.beta1,
                    setting.beta2, setting.weight_decay, setting.epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

AdamWState& FusedAdamW::state_for(const at::Tensor& parameter) {
  auto& slot = state_[parameter.unsafeGetTensorImpl()];
  if (!slot) {
    auto made = std::make_unique<AdamWState>();
    made->step = at::zeros({}, parameter.options().dtype(at::kFloat).requires_grad(false));
    made->mean = at::zeros_like(parameter);
    made->square_mean = at::zeros_like(parameter);
    slot = std::move(made);
  }
  return static_cast<AdamWState&>(*slot);
}

const AdamWState* FusedAdamW::state_of(const at::Tensor& parameter) const {
  const auto found = state_.find(parameter.unsafeGetTensorImpl());
  return found == state_.end() ? nullptr : static_cast<const AdamWState*>(found->second.get());
}

std::unique_ptr<torch::optim::Optimizer> make_adamw(bool fused, const std::vector<at::Tensor>& parameters,
                                                    const AdamWSetting& setting) {
  if (fused) return std::make_unique<FusedAdamW>(parameters, setting);
  return std::make_unique<torch::optim::AdamW>(parameters, torch::optim::AdamWOptions(setting.learning_rate)
                                                               .betas({setting.beta1, setting.beta2})
                                                               .eps(setting.epsilon)
                                                               .weight_decay(setting.weight_decay));
}

std::unique_ptr<FusedAdamW> make_fused_adamw(const Context& ctx, const std::vector<at::Tensor>& parameters,
                                             double learning_rate, bool own_kernel) {
  AdamWSetting setting;
  setting.learning_rate = learning_rate;
  setting.own_kernel = own_kernel;
  auto optimizer = std::make_unique<FusedAdamW>(parameters, setting);
  optimizer->make_state();
  for (const at::Tensor& parameter : parameters) {
    const AdamWState* state = optimizer->state_of(parameter);
    for (const at::Tensor& part : {state->mean, state->square_mean, state->step})
      libtorch::tag(ctx, part, Block::OptimizerState);
  }
  return optimizer;
}

}  // namespace kymo::training
