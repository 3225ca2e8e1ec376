// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "training/data_parallel.hpp"
#include "training/fused_adamw.hpp"

namespace kymo::training {
namespace {

class AdamWUpdate final : public ParameterUpdate {
 public:
  explicit AdamWUpdate(std::unique_ptr<FusedAdamW> optimizer) : optimizer_(std::move(optimizer)) {}
  void step() override { optimizer_->step(); }
  void warm_up() override { optimizer_->warm_up(); }

 private:
  std::unique_ptr<FusedAdamW> optimizer_;
};

/// parameter ← parameter − learning rate · gradient
class SgdUpdate final : public ParameterUpdate {
 public:
  SgdUpdate(double learning_rate, std::vector<at::Tensor> parameters)
      : learning_rate_(learning_rate), parameters_(std::move(parameters)) {}

  void step() override {
    const c10::NoGradGuard no_gradients;
    std::vector<at::Tensor> updated, gradients;
    updated.reserve(parameters_.size()), gradients.reserve(parameters_.size());
    for (const at::Tensor& parameter : parameters_) {
      if (!parameter.grad().defined()) continue;
      updated.push_back(parameter);
      gradients.push_back(parameter.grad());
    }
    if (!updated.empty()) at::_foreach_add_(updated, gradients, -learning_rate_);
  }

 private:
  double learning_rate_;
  std::vector<at::Tensor> parameters_;
};

}  // namespace

AdamWSetting UpdateRule::adamw_setting() const {
  AdamWSetting setting = adamw;
  setting.learning_rate = learning_rate;
  return setting;
}

std::vector<std::string> rule_names() { return {"adamw", "sgd"}; }

std::unique_ptr<ParameterUpdate> make_replicated_update(const Context& ctx, const UpdateRule& rule,
                                                        std::vector<at::Tensor> parameters,
                                                        const std::vector<at::Tensor>& masters) {
  if (rule.name == "adamw")
    return std::make_unique<AdamWUpdate>(make_fused_adamw(ctx, parameters, rule.adamw_setting(), masters));
  if (!masters.empty())
    throw std::invalid_argument("optimizer '" + rule.name + "' does not use master weights; use adamw");
  if (rule.name == "sgd") return std::make_unique<SgdUpdate>(rule.learning_rate, std::move(parameters));
  throw std::invalid_argument("unknown optimizer '" + rule.name + "', must be one of adamw, sgd");
}

}  // namespace kymo::training
