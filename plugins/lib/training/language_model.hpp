// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <kymo/context.hpp>
#include <kymo/verification.hpp>
#include <string>
#include <vector>

#include "training/operator_setting.hpp"
#include "training/step.hpp"
#include "transformer/model.hpp"

/// Settings, metrics and verification of the workloads that train a language model.
namespace kymo::training {

/// Settings for training a Transformer language model.
struct LanguageModelSetting : OperatorSetting {
  transformer::Config model;
  std::int64_t batch = 4;
  Mode mode = Mode::kTrain;
  std::string attention = "naive";
  bool graph = false;  ///< replay the step as a CUDA graph
};

/// The choices of the parameter `size`: the predefined sizes, then custom.
std::vector<std::string> size_choices();

/// Reads the parameters size, context, d_model, d_ff, layers and heads. A dimension above 0 overrides that of the size;
/// size=custom needs all of them. Throws std::invalid_argument for an invalid model.
transformer::Config read_model(const Context& ctx, std::int64_t vocab_size);

/// The same as for an OperatorSetting; also skips the run if the device has no CUDA graphs, or the attention is not
/// supported.
void skip_unless_supported(const Context& ctx, const LanguageModelSetting& setting, const std::string& optimizer = "");

/// Reports the work of attention in a forward pass over `batch` sequences as metrics.
void report_attention(const Context& ctx, const transformer::Config& model, std::int64_t batch);

/// Declares the work of the phases, and reports the dimensions of the model and of a step as metrics.
void declare_language_model(const Context& ctx, const LanguageModelSetting& setting);

/// Compares a small model with the run's type, attention and autocast with a float64 reference (logits, loss,
/// gradients), and the optimizer with the AdamW formula and, if it holds master weights, the parameters with their
/// rounded values. With a graph, also compares the losses and gradients of replays with those of eager steps; in bf16
/// with checkpoints, also the losses of 20 steps with those of LibTorch's layers without checkpoints.
void check_language_model(Context& ctx, const LanguageModelSetting& setting, const at::Device& device,
                          Verification& result);
Verification verify_language_model(Context& ctx, const LanguageModelSetting& setting, const at::Device& device);

}  // namespace kymo::training
