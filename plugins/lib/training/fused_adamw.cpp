// SPDX-License-Identifier: Apache-2.0
#include "training/fused_adamw.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/optim/adamw.h>

#include <algorithm>
#include <array>
#include <kymo/torch.hpp>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "ops/layers.hpp"
#include "training/fused_adamw_state.hpp"

namespace kymo::training {

using torch::optim::OptimizerParamGroup;

namespace adamw {
namespace {

void require(bool holds, const char* name, double value, const char* range) {
  if (!holds)
    throw std::invalid_argument(std::string("AdamW's ") + name + " is " + std::to_string(value) + "; it must be " +
                                range);
}

}  // namespace

const AdamWSetting& checked(const AdamWSetting& setting) {
  require(setting.learning_rate >= 0, "learning_rate", setting.learning_rate, "at least 0");
  require(setting.beta1 >= 0 && setting.beta1 < 1, "beta1", setting.beta1, "in [0, 1)");
  require(setting.beta2 >= 0 && setting.beta2 < 1, "beta2", setting.beta2, "in [0, 1)");
  require(setting.epsilon >= 0, "epsilon", setting.epsilon, "at least 0");
  require(setting.weight_decay >= 0, "weight_decay", setting.weight_decay, "at least 0");
  require(setting.max_norm >= 0, "max_norm", setting.max_norm, "above 0, or 0 for gradients that are not clipped");
  return setting;
}

const AdamWSetting& setting_of(const OptimizerParamGroup& group) {
  return dynamic_cast<const AdamWSetting&>(group.options());
}

std::string described(const at::Tensor& tensor) {
  std::string sizes;
  for (const std::int64_t size : tensor.sizes()) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  return std::string(c10::toString(tensor.scalar_type())) + " [" + sizes + "] on " + tensor.device().str();
}

at::ScalarType moment_type(const at::Tensor& parameter, const AdamWSetting& setting, bool has_master) {
  const at::ScalarType type = parameter.scalar_type();
  return has_master || (setting.fp32_moments && ops::is_narrow(type)) ? at::kFloat : type;
}

void check_master_weight(const at::Tensor& parameter, const at::Tensor& master, const AdamWSetting& setting) {
  if (!setting.own_kernel) throw std::invalid_argument("master weights require AdamWSetting::own_kernel");
  if (!ops::is_narrow(parameter.scalar_type()))
    throw std::invalid_argument("a parameter with a master weight is " + described(parameter) +
                                "; it must be BFloat16 or Half");
  if (master.scalar_type() != at::kFloat || master.sizes() != parameter.sizes() ||
      master.device() != parameter.device() || !master.is_contiguous())
    throw std::invalid_argument("a master weight is " + described(master) + " for a parameter that is " +
                                described(parameter) +
                                "; it must be Float, contiguous, and of the same shape and device");
}

}  // namespace adamw

namespace {

using adamw::setting_of;

/// The tensors of one update; a master weight is the parameter, and the parameter its copy.
struct UpdateLists {
  std::vector<at::Tensor> parameters, gradients, means, square_means, steps, copies;

  explicit UpdateLists(std::size_t count) {
    for (auto* list : {&parameters, &gradients, &means, &square_means, &steps, &copies}) list->reserve(count);
  }

  void add(const at::Tensor& parameter, const AdamWState& state) {
    const bool has_copy = state.master_weight.defined();
    parameters.push_back(has_copy ? state.master_weight : parameter);
    gradients.push_back(parameter.grad());
    means.push_back(state.mean);
    square_means.push_back(state.square_mean);
    steps.push_back(state.step);
    copies.push_back(has_copy ? parameter : at::Tensor());
    has_copies_ = has_copies_ || has_copy;
  }

  /// Empty if no parameter has a copy; otherwise, with tensors without elements where a parameter has none.
  at::TensorList copies_or_none() {
    if (!has_copies_) return {};
    at::Tensor none;
    for (at::Tensor& copy : copies) {
      if (copy.defined()) continue;
      if (!none.defined()) none = at::empty({0}, parameters.front().options().requires_grad(false));
      copy = none;
    }
    return copies;
  }

 private:
  bool has_copies_ = false;
};

}  // namespace

at::Tensor global_norm(const std::vector<at::Tensor>& tensors) {
  std::map<at::ScalarType, std::vector<at::Tensor>> by_type;  // one kernel takes tensors of one type
  for (const at::Tensor& tensor : tensors) by_type[tensor.scalar_type()].push_back(tensor);
  std::vector<at::Tensor> norms;
  for (const auto& [type, alike] : by_type)
    norms.push_back(
        at::linalg_vector_norm(at::stack(at::_foreach_norm(alike, 2, type == at::kDouble ? type : at::kFloat)))
            .to(at::kFloat));
  return norms.size() == 1 ? norms.front() : at::linalg_vector_norm(at::stack(norms));
}

FusedAdamW::FusedAdamW(std::vector<at::Tensor> parameters, const AdamWSetting& setting)
    : Optimizer(std::move(parameters), std::make_unique<AdamWSetting>(adamw::checked(setting))) {}

FusedAdamW::FusedAdamW(const std::vector<OptimizerParamGroup>& groups, const AdamWSetting& defaults)
    : Optimizer(groups, std::make_unique<AdamWSetting>(adamw::checked(defaults))) {}

void FusedAdamW::make_state() {
  for (const OptimizerParamGroup& group : param_groups_)
    for (const at::Tensor& parameter : group.params()) state_for(parameter, setting_of(group));
}

void FusedAdamW::set_master_weights(const std::vector<at::Tensor>& masters) {
  std::size_t count = 0, next = 0;
  for (const OptimizerParamGroup& group : param_groups_) count += group.params().size();
  if (masters.size() != count)
    throw std::invalid_argument("there are " + std::to_string(masters.size()) + " master weights for " +
                                std::to_string(count) +
                                " parameters; pass one for each, undefined where a parameter has none");
  for (const OptimizerParamGroup& group : param_groups_)
    for (const at::Tensor& parameter : group.params())
      if (const at::Tensor& master = masters[next++]; master.defined()) set_master_weight(group, parameter, master);
}

void FusedAdamW::set_master_weight(const OptimizerParamGroup& group, const at::Tensor& parameter,
                                   const at::Tensor& master) {
  adamw::check_master_weight(parameter, master, setting_of(group));
  if (state_of(parameter))
    throw std::invalid_argument(
        "a parameter already has an optimizer state; set its master weight before the first step");
  const c10::NoGradGuard no_gradients;
  parameter.copy_(master);
  state_for(parameter, setting_of(group), master);
}

void FusedAdamW::warm_up() const {
  for (const OptimizerParamGroup& group : param_groups_) {
    std::vector<at::Tensor> stand_ins, masters;  // one with and one without a master weight, if the group has both
    std::array<bool, 2> is_there{};
    for (const at::Tensor& parameter : group.params()) {
      const AdamWState* state = state_of(parameter);
      const bool has_master = state && state->master_weight.defined();
      if (std::exchange(is_there[has_master ? 1 : 0], true)) continue;
      stand_ins.push_back(at::zeros({1}, parameter.options().requires_grad(false)));
      stand_ins.back().mutable_grad() = at::zeros_like(stand_ins.back());
      masters.push_back(has_master ? at::zeros_like(stand_ins.back(), at::kFloat) : at::Tensor());
    }
    if (stand_ins.empty()) continue;
    FusedAdamW stand_in(stand_ins, setting_of(group));
    stand_in.set_master_weights(masters);
    stand_in.step();
  }
}

at::Tensor FusedAdamW::step(LossClosure closure) {
  const c10::NoGradGuard no_gradients;
  at::Tensor loss;
  if (closure) {
    const c10::AutoGradMode with_gradients(true);
    loss = closure();
  }
  const at::Tensor norm = gradient_norm();
  for (const OptimizerParamGroup& group : param_groups_) update(group, norm);
  return loss;
}

/// Undefined if no group clips its gradients, or none has one.
at::Tensor FusedAdamW::gradient_norm() const {
  if (std::ranges::none_of(param_groups_, [](const auto& group) { return setting_of(group).max_norm > 0; })) return {};
  std::vector<at::Tensor> gradients;
  for (const OptimizerParamGroup& group : param_groups_)
    for (const at::Tensor& parameter : group.params())
      if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  return gradients.empty() ? at::Tensor() : global_norm(gradients);
}

void FusedAdamW::update(const OptimizerParamGroup& group, const at::Tensor& norm) {
  const AdamWSetting& setting = setting_of(group);
  UpdateLists lists(group.params().size());
  for (const at::Tensor& parameter : group.params())
    if (parameter.grad().defined()) lists.add(parameter, state_for(parameter, setting));
  if (lists.parameters.empty()) return;
  const bool clips = setting.max_norm > 0;
  if (setting.own_kernel) {
    ops::adamw_(lists.parameters, lists.gradients, lists.means, lists.square_means, lists.steps,
                {.learning_rate = setting.learning_rate,
                 .beta1 = setting.beta1,
                 .beta2 = setting.beta2,
                 .epsilon = setting.epsilon,
                 .weight_decay = setting.weight_decay,
                 .gradient_norm = clips ? norm : at::Tensor(),
                 .max_norm = setting.max_norm},
                lists.copies_or_none());
    return;
  }
  // LibTorch's kernel divides the gradients by a scale.
  const auto scale = clips ? std::optional(((norm + 1e-6) / setting.max_norm).clamp_min(1)) : std::nullopt;
  at::_foreach_add_(lists.steps, 1);
  at::_fused_adamw_(lists.parameters, lists.gradients, lists.means, lists.square_means, {}, lists.steps,
                    setting.learning_rate, setting.beta1, setting.beta2, setting.weight_decay, setting.epsilon,
                    /*amsgrad=*/false, /*maximize=*/false, scale);
}

AdamWState& FusedAdamW::state_for(const at::Tensor& parameter, const AdamWSetting& setting, const at::Tensor& master) {
  auto& slot = state_[parameter.unsafeGetTensorImpl()];
  if (!slot) {
    auto state = std::make_unique<AdamWState>();
    state->step = at::zeros({}, parameter.options().dtype(at::kFloat).requires_grad(false));
    state->mean = at::zeros_like(parameter, adamw::moment_type(parameter, setting, master.defined()));
    state->square_mean = at::zeros_like(state->mean);
    state->master_weight = master;
    slot = std::move(state);
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
                                             const AdamWSetting& setting, const std::vector<at::Tensor>& masters) {
  auto optimizer = std::make_unique<FusedAdamW>(parameters, setting);
  if (!masters.empty()) optimizer->set_master_weights(masters);
  optimizer->make_state();
  for (const at::Tensor& parameter : parameters) {
    const AdamWState* state = optimizer->state_of(parameter);
    for (const at::Tensor& part : {state->mean, state->square_mean, state->step, state->master_weight})
      if (part.defined()) libtorch::tag(ctx, part, Block::OptimizerState);
  }
  return optimizer;
}

}  // namespace kymo::training
