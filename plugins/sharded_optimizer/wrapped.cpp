// SPDX-License-Identifier: Apache-2.0
#include "wrapped.hpp"

#include <torch/optim/adagrad.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <stdexcept>

#include "training/fused_adamw.hpp"

namespace {

namespace optim = torch::optim;
using kymo::training::optimizer_factory;

kymo::training::OptimizerFactory configured(const kymo::training::UpdateRule& rule) {
  if (rule.name == "sgd") return optimizer_factory<optim::SGD>(optim::SGDOptions(rule.learning_rate));
  if (rule.name != "adamw")
    throw std::invalid_argument("unknown optimizer '" + rule.name + "' for sharding, must be one of adamw, sgd");
  kymo::training::AdamWSetting setting;
  setting.learning_rate = rule.learning_rate;
  return optimizer_factory<kymo::training::FusedAdamW>(setting);
}

}  // namespace

std::vector<std::string> wrapped_names() { return {"configured", "torch_adamw", "momentum", "adagrad", "rmsprop"}; }

kymo::training::OptimizerFactory wrapped_factory(const std::string& wrapped, const kymo::training::UpdateRule& rule) {
  const double rate = rule.learning_rate;
  if (wrapped == "configured") return configured(rule);
  if (wrapped == "torch_adamw") return optimizer_factory<optim::AdamW>(optim::AdamWOptions(rate));
  if (wrapped == "momentum") return optimizer_factory<optim::SGD>(optim::SGDOptions(rate).momentum(0.9));
  if (wrapped == "adagrad") return optimizer_factory<optim::Adagrad>(optim::AdagradOptions(rate));
  if (wrapped == "rmsprop") return optimizer_factory<optim::RMSprop>(optim::RMSpropOptions(rate));
  throw std::invalid_argument("unknown wrapped optimizer '" + wrapped +
                              "', must be one of configured, torch_adamw, momentum, adagrad, rmsprop");
}
