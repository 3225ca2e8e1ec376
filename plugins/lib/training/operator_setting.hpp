// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/context.hpp>
#include <kymo/descriptor.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "training/fused_adamw.hpp"
#include "transformer/model.hpp"

/// The parameters dtype, optimizer_state, autocast, operators, checkpoint, checkpoint_blocks and
/// checkpoint_feed_forward, which all workloads that train a Transformer have.
namespace kymo::training {

/// Data types, operators and checkpoints of a training.
struct OperatorSetting {
  at::ScalarType dtype = at::kFloat;
  std::optional<at::ScalarType> autocast{};
  transformer::FusedLayers fused{};
  bool fused_optimizer = true;  ///< FusedAdamW; otherwise an optimizer of the workload's own, without master weights
  /// Data types of the optimizer state of bf16 and fp16 weights; require fused.optimizer.
  bool fp32_moments = false;
  bool master_weights = false;  ///< fp32 master weights of all weights, with fp32 moments
  transformer::CheckpointSetting checkpoint{};

  /// Whether the optimizer holds fp32 master weights: of all weights, or under autocast of those of matrix products.
  bool has_master_weights() const {
    return fused.optimizer && fused_optimizer && (autocast ? fused.master_weights : master_weights);
  }
  /// The defaults of AdamW, with the kernel and the type of the moments that these settings select.
  AdamWSetting adamw() const;
};

/// The names accepted by set_optimizer_state(): dtype (moments in the type of the weights), fp32 (moments in fp32) and
/// master_weights (moments and master weights in fp32).
std::vector<std::string> optimizer_state_names();
/// Throws std::invalid_argument for an unknown name.
void set_optimizer_state(OperatorSetting& setting, std::string_view name);

/// Declarations of the parameters, and their documentation.
Choice operators_choice();
Choice optimizer_state_choice();
extern const char* const kOperatorsText;
extern const char* const kOptimizerStateText;
extern const char* const kAutocastText;
Choice checkpoint_choice();
Int checkpoint_blocks();
Int checkpoint_feed_forward();
extern const char* const kCheckpointText;
extern const char* const kCheckpointBlocksText;
extern const char* const kCheckpointFeedForwardText;

/// Allowed deviation of the results of a small model, relative to the largest expected value: a few times their
/// rounding error. A wrong mask, rotation or gradient changes the leading digits.
double tolerance_of(const OperatorSetting& setting);

/// Reads the parameters. Throws std::invalid_argument for an unknown name.
OperatorSetting read_operators(const Context& ctx);

/// Skips the run if autocast, the optimizer state or checkpoint_feed_forward has no effect. `optimizer` is the
/// parameter that selects the optimizer, such as "optimizer=sgd", if the workload has one.
void skip_unless_supported(const Context& ctx, const OperatorSetting& setting, const std::string& optimizer = "");

/// The weights of a model, and of its optimizer.
struct TrainedWeights {
  transformer::Weights model;  ///< what the model reads and autograd differentiates
  transformer::Weights exact;  ///< fp32 master weights, where `model` has rounded copies; otherwise the same tensors
};
/// Creates random weights in the types that the settings require.
TrainedWeights make_trained_weights(const transformer::Config& model, const OperatorSetting& setting,
                                    const at::Device& device, const at::Generator& generator);
/// The master weights in the order of parameters(), undefined where there is none; empty if no weight has one.
std::vector<at::Tensor> master_weights(const TrainedWeights& weights);

/// Floating-point operations of the phases of a step. The fused loss computes the gradients of the head in the forward
/// pass.
struct PhaseFlops {
  double forward = 0, backward = 0;
};
PhaseFlops phase_flops(const transformer::ForwardFlops& flops, bool has_backward, bool fused_loss);

/// Reports the floating-point operations of matrix products that checkpoints compute again in each step, which are not
/// part of the declared work, if there are any.
void report_recomputation(const Context& ctx, const OperatorSetting& setting, const transformer::ForwardFlops& flops,
                          std::int64_t layers, const std::string& attention);

}  // namespace kymo::training
