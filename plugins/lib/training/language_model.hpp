// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <kymo/context.hpp>
#include <kymo/verification.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "training/fused_adamw.hpp"
#include "training/step.hpp"
#include "transformer/model.hpp"

/// What the workloads that train a language model have in common.
namespace kymo::training {

/// How a Transformer language model is trained.
struct LanguageModelSetting {
  transformer::Config model;
  std::int64_t batch = 4;
  at::ScalarType dtype = at::kFloat;
  std::optional<at::ScalarType> autocast;
  Mode mode = Mode::kTrain;
  std::string attention = "naive";
  transformer::FusedLayers fused{};
  bool graph = false;           ///< replay the step as a CUDA graph
  bool fused_optimizer = true;  ///< FusedAdamW; otherwise LibTorch's AdamW, operator by operator
  /// Data types of the optimizer state of bf16 and fp16 weights; require fused.optimizer.
  bool fp32_moments = false;
  bool master_weights = false;  ///< fp32 master weights of all weights, with fp32 moments

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
void set_optimizer_state(LanguageModelSetting& setting, std::string_view name);

/// The weights of a model, and of its optimizer.
struct TrainedWeights {
  transformer::Weights model;  ///< what the model reads and autograd differentiates
  transformer::Weights exact;  ///< fp32 master weights, where `model` has rounded copies; otherwise the same tensors
};
/// Creates random weights in the types that the settings require.
TrainedWeights make_trained_weights(const LanguageModelSetting& setting, const at::Device& device,
                                    const at::Generator& generator);
/// The master weights in the order of parameters(), undefined where there is none.
std::vector<at::Tensor> master_weights(const TrainedWeights& weights);

/// The choices of the parameter `size`: the predefined sizes, then custom.
std::vector<std::string> size_choices();

/// Reads the parameters size, context, d_model, d_ff, layers and heads. A dimension above 0 overrides that of the size;
/// size=custom needs all of them. Throws std::invalid_argument for an invalid model.
transformer::Config read_model(const Context& ctx, std::int64_t vocab_size);

/// Skips the run if autocast or the optimizer state has no effect, the device has no CUDA graphs, or the attention is
/// not supported.
void skip_unless_supported(const Context& ctx, const LanguageModelSetting& setting);

/// Declares the work of the phases, and reports the dimensions of the model and of a step as metrics.
void declare_language_model(const Context& ctx, const LanguageModelSetting& setting);

/// Compares a small model with the run's type, attention and autocast with a float64 reference (logits, loss,
/// gradients), and the optimizer with the AdamW formula and, if it holds master weights, the parameters with their
/// rounded values. With a graph, also compares the losses and gradients of replays with those of eager steps.
Verification verify_language_model(Context& ctx, const LanguageModelSetting& setting, const at::Device& device);

}  // namespace kymo::training
