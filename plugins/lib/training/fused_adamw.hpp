// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/optim/optimizer.h>

#include <memory>
#include <vector>

namespace kymo::training {

/// Settings of one parameter group.
struct AdamWSetting : torch::optim::OptimizerCloneableOptions<AdamWSetting> {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 1e-2;  ///< decoupled: p ← p·(1 − learning_rate·weight_decay)

  double get_lr() const override { return learning_rate; }
  void set_lr(double rate) override { learning_rate = rate; }
};

/// What the optimizer keeps for one parameter. The moments have the parameter's type.
struct AdamWState : torch::optim::OptimizerCloneableParamState<AdamWState> {
  at::Tensor step;  ///< steps made, float, on the parameter's device: nothing is read back, and a CUDA graph counts on
  at::Tensor mean;
  at::Tensor square_mean;
};

/// AdamW that updates all parameters of a group in a few kernels. A parameter without a gradient is left as it is and
/// its step not counted. The parameters of one group share device and type.
class FusedAdamW : public torch::optim::Optimizer {
 public:
  /// Throws std::invalid_argument for settings out of range.
  explicit FusedAdamW(std::vector<at::Tensor> parameters, const AdamWSetting& setting = {});
  explicit FusedAdamW(const std::vector<torch::optim::OptimizerParamGroup>& groups, const AdamWSetting& defaults = {});

  /// Adds a group in mid-training; one without settings takes the defaults. Throws if a parameter is already in another
  /// group.
  void add_group(std::vector<at::Tensor> parameters);
  void add_group(std::vector<at::Tensor> parameters, const AdamWSetting& setting);

  /// Makes the state of parameters that have none, as the first step would: so that a measured step allocates nothing.
  void make_state();

  /// Runs the kernels of an update on tensors of its own, so that a measured or captured step finds them loaded.
  /// Changes nothing.
  void warm_up() const;

  /// One update from the gradients. Waits for nothing and counts on the device, so a CUDA graph may capture it, with
  /// the settings of that moment, once make_state() was called. `closure`, if given, is run first with gradients
  /// enabled and its loss returned.
  at::Tensor step(LossClosure closure = nullptr) override;

  /// State by group and position; loading needs the same groups. Settings are saved too.
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

  /// The state of one parameter, or nullptr before its first step.
  const AdamWState* state_of(const at::Tensor& parameter) const;

 private:
  AdamWState& state_for(const at::Tensor& parameter);
  void update(const torch::optim::OptimizerParamGroup& group);
};

/// Floating-point operations of one update of one element: decay 1, mean 3, square mean 4, denominator 3, update 3.
inline constexpr double kAdamWFlopsPerElement = 14;
/// Elements moved per updated element: parameter, gradient and both moments read; parameter and both moments written.
inline constexpr double kAdamWTransfersPerElement = 7;

}  // namespace kymo::training
