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

/// How much of a training step is made.
enum class Mode {
  kForward,          ///< the loss, recording nothing for gradients
  kForwardBackward,  ///< the loss and all gradients
  kTrain,            ///< and the update of the parameters
};

/// forward, forward_backward, train.
std::vector<std::string> mode_names();
/// Throws std::invalid_argument for any other name.
Mode mode_of(std::string_view name);

/// What a training step is made of. The two hooks, if set, are where a data-parallel strategy does its part; they open
/// their own phases.
struct StepParts {
  Mode mode = Mode::kTrain;
  std::vector<at::Tensor> parameters;
  std::function<at::Tensor(const Context&)> loss;  ///< runs the forward pass, with the scopes of its parts
  torch::optim::Optimizer* optimizer = nullptr;    ///< needed by kTrain alone
  const char* optimizer_scope = "optimizer";       ///< the scope of the update
  std::optional<at::ScalarType> autocast;          ///< of the forward pass
  std::function<void()> before_backward;           ///< between the phases forward and backward
  std::function<void()> after_backward;            ///< between the phases backward and optimizer
};

/// One training step: drops the gradients, then makes the phases forward, backward and optimizer as far as the mode
/// goes. Returns the loss, detached and not waited for. Throws std::invalid_argument if a part that the mode needs is
/// missing.
at::Tensor run_step(const Context& ctx, const StepParts& parts);

}  // namespace kymo::training
