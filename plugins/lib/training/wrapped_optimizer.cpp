// SPDX-License-Identifier: Apache-2.0
#include <torch/optim/adagrad.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <stdexcept>

#include "training/fused_adamw.hpp"
#include "training/sharded_optimizer.hpp"

namespace kymo::training {
namespace {

namespace optim = torch::optim;

OptimizerFactory configured(const UpdateRule& rule) {
  if (rule.name == "sgd") return optimizer_factory<optim::SGD>(optim::SGDOptions(rule.learning_rate));
  if (rule.name != "adamw")
    throw std::invalid_argument("unknown optimizer '" + rule.name + "' for sharding, must be one of adamw, sgd");
  return optimizer_factory<FusedAdamW>(rule.adamw_setting());
}

}  // namespace

const char* const kWrappedText =
    "optimizer to shard: configured is the one set by `optimizer`; the others are LibTorch's own (momentum is SGD with "
    "momentum 0.9)";

std::vector<std::string> wrapped_names() { return {"configured", "torch_adamw", "momentum", "adagrad", "rmsprop"}; }

OptimizerFactory wrapped_factory(const std::string& wrapped, const UpdateRule& rule) {
  const double rate = rule.learning_rate;
  if (wrapped == "configured") return configured(rule);
  if (wrapped == "torch_adamw") return optimizer_factory<optim::AdamW>(optim::AdamWOptions(rate));
  if (wrapped == "momentum") return optimizer_factory<optim::SGD>(optim::SGDOptions(rate).momentum(0.9));
  if (wrapped == "adagrad") return optimizer_factory<optim::Adagrad>(optim::AdagradOptions(rate));
  if (wrapped == "rmsprop") return optimizer_factory<optim::RMSprop>(optim::RMSpropOptions(rate));
  throw std::invalid_argument("unknown wrapped optimizer '" + wrapped +
                              "', must be one of configured, torch_adamw, momentum, adagrad, rmsprop");
}

}  // namespace kymo::training
