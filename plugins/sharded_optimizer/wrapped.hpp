// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "training/parameter_update.hpp"
#include "training/sharded_optimizer.hpp"

/// configured, torch_adamw, momentum, adagrad, rmsprop.
std::vector<std::string> wrapped_names();

/// Makes optimizers of the kind `wrapped` with the rule's learning rate; `configured` is what the rule names. Throws
/// std::invalid_argument for another name.
kymo::training::OptimizerFactory wrapped_factory(const std::string& wrapped, const kymo::training::UpdateRule& rule);
