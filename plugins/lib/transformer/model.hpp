// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <kymo/context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "transformer/attention.hpp"
#include "transformer/config.hpp"
#include "transformer/functions.hpp"

namespace kymo::transformer {

/// One block's parameters. A weight is [outputs, inputs]; there are no biases.
struct BlockWeights {
  at::Tensor attention_norm;   ///< [d_model]
  at::Tensor query_key_value;  ///< [3·d_model, d_model]: the heads of query, then of key, then of value, in one product
  at::Tensor attention_output;   ///< [d_model, d_model]
  at::Tensor feed_forward_norm;  ///< [d_model]
  at::Tensor gate_and_up;        ///< [2·d_ff, d_model]: gate, then up
  at::Tensor down;               ///< [d_model, d_ff]
};

struct Weights {
  at::Tensor embedding;  ///< [vocab_size, d_model]
  std::vector<BlockWeights> blocks;
  at::Tensor norm;  ///< [d_model]
  at::Tensor head;  ///< [vocab_size, d_model], not tied to the embedding
};

struct NamedParameter {
  std::string name;
  at::Tensor tensor;
};

/// All parameters in the order of the forward pass; the tensors are shared, not copied.
std::vector<NamedParameter> named_parameters(const Weights& weights);
std::vector<at::Tensor> parameters(const Weights& weights);

/// Fresh parameters: norms are 1, the embedding is normal with deviation 1, a weight is normal with deviation √(2 /
/// (inputs + outputs)), all drawn from `generator`, which must be of the options' device. They require gradients.
Weights make_weights(const Config& config, const at::TensorOptions& options, at::Generator generator);

/// A decoder-only Transformer language model: pre-norm blocks of causal attention with rotary positions and of SwiGLU,
/// on plain tensors. Shapes: tokens are int64 [batch, sequence], sequence ≤ config.context.
class LanguageModel {
 public:
  /// `attention` is a name of attention_names(). Throws std::invalid_argument for an impossible configuration.
  LanguageModel(const Config& config, Weights weights, const std::string& attention);

  /// [batch · sequence, vocab_size].
  at::Tensor logits(const Context& ctx, const at::Tensor& tokens);
  /// Mean cross entropy over all tokens; `targets` is shaped as `tokens`.
  at::Tensor loss(const Context& ctx, const at::Tensor& tokens, const at::Tensor& targets);

  const Config& config() const { return config_; }
  const Weights& weights() const { return weights_; }

 private:
  at::Tensor block(const Context& ctx, std::size_t index, const at::Tensor& stream, const Rotary& rotary,
                   std::int64_t batch);
  at::Tensor attend(const Context& ctx, const BlockWeights& weights, const at::Tensor& input, const Rotary& rotary,
                    std::int64_t batch);
  at::Tensor feed_forward(const Context& ctx, const BlockWeights& weights, const at::Tensor& input);
  at::Tensor normalise(const Context& ctx, const at::Tensor& input, const at::Tensor& weight);

  Config config_;
  Weights weights_;
  std::unique_ptr<Attention> attention_;
  Rotary rotary_;
  std::vector<std::string> block_names_;
};

}  // namespace kymo::transformer
