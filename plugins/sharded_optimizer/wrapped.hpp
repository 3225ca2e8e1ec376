// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "training/parameter_update.hpp"
#include "training/sharded_optimizer.hpp"

/// Returns configured, torch_adamw, momentum, adagrad, rmsprop.
std::vector<std::string> wrapped_names();

/// Creates optimizers of the kind `wrapped` with the rule's learning rate; `configured` is the optimizer that the rule
/// names. Throws std::invalid_argument for an unknown name.
kymo::training::OptimizerFactory wrapped_factory(const std::string& wrapped, const kymo::training::UpdateRule& rule);
