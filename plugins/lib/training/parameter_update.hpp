// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/context.hpp>
#include <memory>
#include <string>
#include <vector>

namespace kymo::training {

/// Updates the parameters from their gradients.
class ParameterUpdate {
 public:
  virtual ~ParameterUpdate() = default;
  /// Called in the phase optimizer.
  virtual void step() = 0;
};

/// Update rule of the parameters.
struct UpdateRule {
  std::string name = "adamw";
  double learning_rate = 1e-4;
};

/// Returns adamw, sgd.
std::vector<std::string> rule_names();

/// Updates `parameters` by the rule in a few kernels, and reports to the host which memory is optimizer state, which
/// exists when this returns. Parameters without a gradient are unchanged. The parameters share device and type. Throws
/// std::invalid_argument for an unknown name.
std::unique_ptr<ParameterUpdate> make_whole_update(const Context& ctx, const UpdateRule& rule,
                                                   std::vector<at::Tensor> parameters);

}  // namespace kymo::training
