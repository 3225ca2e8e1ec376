// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/optim/optimizer.h>

#include <kymo/context.hpp>
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
  bool own_kernel = false;     ///< kymo::adamw_ (ops/layers.hpp) instead of LibTorch's _fused_adamw_
  bool fp32_moments = false;   ///< for parameters in bf16 and fp16; requires own_kernel
  /// If above 0, the gradients are multiplied by min(1, max_norm / (norm + 1e-6)), as by clip_grad_norm_(), where
  /// `norm` is that of the gradients of all groups. The update reads the product; the gradients themselves may change
  /// or not.
  double max_norm = 0;

  double get_lr() const override { return learning_rate; }
  void set_lr(double rate) override { learning_rate = rate; }
};

/// Optimizer state of one parameter. The moments have the type of the master weight if there is one, and otherwise that
/// of the parameter, or fp32 with AdamWSetting::fp32_moments.
struct AdamWState : torch::optim::OptimizerCloneableParamState<AdamWState> {
  at::Tensor step;  ///< step count, float, on the parameter's device: never read back, advanced by CUDA graph replays
  at::Tensor mean;
  at::Tensor square_mean;
  at::Tensor master_weight;  ///< fp32; undefined if the parameter itself is updated
};

/// The norm of all elements of all tensors, which share a device, as a scalar in fp32 on that device. Does not
/// synchronize. Requires at least one tensor.
at::Tensor global_norm(const std::vector<at::Tensor>& tensors);

/// AdamW that updates all parameters of a group in a few kernels. Parameters without a gradient are unchanged, and
/// their step count does not increase. The parameters of a group, or their master weights, share device and type.
class FusedAdamW : public torch::optim::Optimizer {
 public:
  /// Throws std::invalid_argument for settings out of range.
  explicit FusedAdamW(std::vector<at::Tensor> parameters, const AdamWSetting& setting = {});
  explicit FusedAdamW(const std::vector<torch::optim::OptimizerParamGroup>& groups, const AdamWSetting& defaults = {});

  /// Sets the fp32 master weights of the parameters of all groups, in order; undefined where a parameter has none. A
  /// step then updates the master weight and rounds it to the parameter, which autograd differentiates and which keeps
  /// its address. The gradient is read in the parameter's type: nothing is cast. Rounds the master weights to the
  /// parameters at once. Parameters are bf16 or fp16 (one type), their groups have own_kernel, and none has a state
  /// yet; otherwise throws std::invalid_argument.
  void set_master_weights(const std::vector<at::Tensor>& masters);

  /// Allocates the state of parameters that have none, as the first step would, so that a measured step allocates
  /// nothing.
  void make_state();

  /// Runs the kernels of an update on temporary tensors, so that they are loaded before a measured or captured step.
  /// Changes nothing.
  void warm_up() const;

  /// Performs one update from the gradients. Does not synchronize and keeps the step count on the device, so a CUDA
  /// graph may capture it, with the current settings, after make_state(). `closure`, if given, runs first with
  /// gradients enabled, and its loss is returned.
  at::Tensor step(LossClosure closure = nullptr) override;

  /// Writes the settings of all groups and the state of all parameters, including master weights, but not the
  /// parameters, as LibTorch's optimizers do. Groups and parameters are identified by their order.
  void save(torch::serialize::OutputArchive& archive) const override;

  /// Restores what save() wrote, after which training continues with the same bits. Settings are replaced. A state
  /// keeps its addresses if it already exists in the saved types, and master weights are rounded to their parameters.
  /// Throws std::invalid_argument, without having changed anything, unless the archive was written for parameters of
  /// the same number, shapes and types, and with master weights for those parameters that have one here.
  void load(torch::serialize::InputArchive& archive) override;

  /// The state of one parameter, or nullptr before its first step.
  const AdamWState* state_of(const at::Tensor& parameter) const;

 private:
  AdamWState& state_for(const at::Tensor& parameter, const AdamWSetting& setting, const at::Tensor& master = {});
  void set_master_weight(const torch::optim::OptimizerParamGroup& group, const at::Tensor& parameter,
                         const at::Tensor& master);
  at::Tensor gradient_norm() const;
  void update(const torch::optim::OptimizerParamGroup& group, const at::Tensor& norm);
  void restore(const at::Tensor& parameter, const AdamWState* saved);
};

/// A FusedAdamW, or LibTorch's AdamW with the same settings, which updates one parameter after another in several
/// operators.
std::unique_ptr<torch::optim::Optimizer> make_adamw(bool fused, const std::vector<at::Tensor>& parameters,
                                                    const AdamWSetting& setting);

/// Creates an optimizer with its state, which it reports to the host as optimizer state, including the master weights
/// (see FusedAdamW::set_master_weights()), if there are any.
std::unique_ptr<FusedAdamW> make_fused_adamw(const Context& ctx, const std::vector<at::Tensor>& parameters,
                                             const AdamWSetting& setting, const std::vector<at::Tensor>& masters = {});

/// Floating-point operations of one update of one element: decay 1, mean 3, square mean 4, denominator 3, update 3.
inline constexpr double kAdamWFlopsPerElement = 14;
/// Elements moved per updated element: parameter, gradient and both moments read; parameter and both moments written.
/// With master weights, the gradient and the rounded parameter together count as one of its elements.
inline constexpr double kAdamWTransfersPerElement = 7;

}  // namespace kymo::training
