// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/context.hpp>
#include <memory>
#include <string>
#include <vector>

namespace kymo::training {

/// The update of the parameters from their gradients.
class ParameterUpdate {
 public:
  virtual ~ParameterUpdate() = default;
  /// In the phase optimizer.
  virtual void step() = 0;
};

/// How a parameter follows from its gradient.
struct UpdateRule {
  std::string name = "adamw";
  double learning_rate = 1e-4;
};

/// adamw, sgd.
std::vector<std::string> rule_names();

/// Updates `parameters` by the rule, in a few kernels, and tells the host which memory is optimizer state, which exists
/// once this returns. A parameter without a gradient is left as it is. The parameters share device and type. Throws
/// std::invalid_argument for another name.
std::unique_ptr<ParameterUpdate> make_whole_update(const Context& ctx, const UpdateRule& rule,
                                                   std::vector<at::Tensor> parameters);

}  // namespace kymo::training
