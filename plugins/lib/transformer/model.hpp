// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <kymo/context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "transformer/attention.hpp"
#include "transformer/checkpoint.hpp"
#include "transformer/config.hpp"

namespace kymo::transformer {

/// Rotary position embedding as complex numbers: pair i of a head at position p is rotated by the angle
/// p·theta^(−2i/head_dim).
struct Rotary {
  at::Tensor rotation;          ///< [positions, head_dim / 2], complex; double for fp64 models, else float
  at::Tensor inverse_rotation;  ///< its conjugate, for gradients
};

Rotary make_rotary(std::int64_t positions, std::int64_t head_dim, double theta, const at::TensorOptions& options);
Rotary first_positions(const Rotary& rotary, std::int64_t count);

/// Splits the joint projection [batch·sequence, 3·heads·head_dim] into query, key and value, [batch, heads, sequence,
/// head_dim] each, and rotates query and key by their position (in at least float precision). With
/// Layout::kTokensFirst, it works in place on `projected`, which must not be used afterwards. It launches one kernel
/// for the rotation and one for the layout, instead of a dozen for splitting, rotating and joining. `rotary` has one
/// row per position of the sequence. With `fused`, it always works in place, in one kernel, followed by a copy to
/// Layout::kHeadsFirst; the gradient is rotated and joined in one kernel. Differentiable once.
std::array<at::Tensor, 3> split_and_rotate(const at::Tensor& projected, const Rotary& rotary, std::int64_t batch,
                                           std::int64_t heads, Layout layout, bool fused = false);

/// silu(gate) · up, where gate and up are the halves of the last dimension of [tokens, 2·d_ff]. The gradient is written
/// directly into one tensor. Differentiable once.
at::Tensor swiglu(const at::Tensor& gate_and_up);

/// Parameters of one block. A weight is [outputs, inputs]; there are no biases.
struct BlockWeights {
  at::Tensor attention_norm;     ///< [d_model]
  at::Tensor query_key_value;    ///< [3·d_model, d_model]: heads of query, then key, then value, as one weight
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

/// All parameters in the order of the forward pass; the tensors are shared, not copied.
std::vector<at::Tensor> parameters(const Weights& weights);

/// Creates parameters: norms are 1, the embedding is normal with standard deviation 1, a weight is normal with standard
/// deviation √(2 / (inputs + outputs)), all drawn from `generator`, which must be on the device of `options`. They
/// require gradients.
Weights make_weights(const Config& config, const at::TensorOptions& options, at::Generator generator);

/// Converts all weights to `dtype`, as new parameters that require gradients.
Weights converted(Weights weights, at::ScalarType dtype);
/// The same for the weights of matrix products only; the embedding and the norms are shared. Under autocast to `dtype`,
/// the results equal those of the original weights, and neither these weights nor their gradients are cast.
Weights with_converted_products(Weights weights, at::ScalarType dtype);

/// Told of the uses of the weights of matrix products and of the embedding in a forward pass, for weights that are not
/// always in memory.
class WeightUse {
 public:
  virtual ~WeightUse() = default;
  /// Before the weight is read.
  virtual void begin(const at::Tensor& weight) = 0;
  /// After it was read for `result`. With `in_backward`, it is read again before the gradient of the result is used.
  virtual void end(const at::Tensor& weight, const at::Tensor& result, bool in_backward) = 0;
};
/// input · weightᵀ; `use` may be nullptr.
at::Tensor linear(const at::Tensor& input, const at::Tensor& weight, WeightUse* use);

/// Names of all parameters in the order of parameters(), such as `block_0/down`.
std::vector<std::string> parameter_names(const Weights& weights);

/// A decoder-only Transformer language model on plain tensors: pre-norm blocks of causal attention with rotary
/// embeddings and of SwiGLU. Shapes: tokens are int64 [batch, sequence], sequence ≤ config.context.
class LanguageModel {
 public:
  /// `attention` is one of attention_names(). `fused.optimizer` has no effect here. Throws std::invalid_argument for an
  /// invalid configuration.
  LanguageModel(const Config& config, Weights weights, const std::string& attention, const FusedLayers& fused = {},
                const CheckpointSetting& checkpoint = {});

  /// Returns [batch · sequence, vocab_size].
  at::Tensor logits(const Context& ctx, const at::Tensor& tokens);
  /// Mean cross entropy over all tokens; `targets` has the shape of `tokens`.
  at::Tensor loss(const Context& ctx, const at::Tensor& tokens, const at::Tensor& targets);

  const Config& config() const { return config_; }
  const Weights& weights() const { return weights_; }
  /// Reports the uses of weights from now on; nullptr ends it.
  void watch(WeightUse* use) { use_ = use; }

 private:
  /// The residual stream. A fused norm adds the last branch; otherwise it is added at once, and `branch` is undefined.
  struct Stream {
    at::Tensor sum, branch;
  };

  /// The normalized output of the last block, [batch · sequence, d_model].
  at::Tensor hidden(const Context& ctx, const at::Tensor& tokens);
  /// The blocks from `first` to before `end`, in segments that are checkpoints.
  void segments(const Context& ctx, std::size_t first, std::size_t end, Stream& stream, const Rotary& rotary,
                std::int64_t batch);
  void segment(const Context& ctx, std::size_t first, std::size_t end, Stream& stream, const Rotary& rotary,
               std::int64_t batch);
  void block(const Context& ctx, std::size_t index, Stream& stream, const Rotary& rotary, std::int64_t batch);
  at::Tensor attend(const Context& ctx, std::size_t index, Discardable input, const Rotary& rotary, std::int64_t batch);
  at::Tensor feed_forward(const Context& ctx, std::size_t index, Discardable input) const;
  /// In the scope of a block, whose name is `block`; empty after the last block.
  Discardable normalise(const Context& ctx, Stream& stream, const at::Tensor& weight, const std::string& block) const;
  void add(Stream& stream, const at::Tensor& branch) const;

  Config config_;
  Weights weights_;
  FusedLayers fused_;
  CheckpointSetting checkpoint_;
  WeightUse* use_ = nullptr;
  std::unique_ptr<Attention> attention_;
  Rotary rotary_;
  std::vector<std::string> block_names_;
};

}  // namespace kymo::transformer
