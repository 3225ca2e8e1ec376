// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <kymo/context.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace kymo::training {

/// The passes of a training step.
enum class Mode {
  kForward,          ///< the loss, without recording gradients
  kForwardBackward,  ///< the loss and all gradients
  kTrain,            ///< the loss, all gradients and the parameter update
};

/// Returns forward, forward_backward, train.
std::vector<std::string> mode_names();
/// Throws std::invalid_argument for an unknown name.
Mode mode_of(std::string_view name);

/// The components of a training step. The two hooks, if set, are called for data-parallel strategies, which open their
/// own phases.
struct StepParts {
  Mode mode = Mode::kTrain;
  std::vector<at::Tensor> parameters;
  std::function<at::Tensor(const Context&)> loss;  ///< runs the forward pass, with scopes for its parts
  torch::optim::Optimizer* optimizer = nullptr;    ///< required by kTrain only
  const char* optimizer_scope = "optimizer";       ///< the scope of the update
  std::optional<at::ScalarType> autocast;          ///< of the forward pass
  std::function<void()> before_backward;           ///< between the phases forward and backward
  std::function<void()> after_backward;            ///< between the phases backward and optimizer
};

/// Runs one training step: drops the gradients, then runs the phases forward, backward and optimizer as far as the mode
/// requires. Returns the loss, detached and without synchronizing. Throws std::invalid_argument if a component required
/// by the mode is missing.
at::Tensor run_step(const Context& ctx, const StepParts& parts);

}  // namespace kymo::training
