// SPDX-License-Identifier: Apache-2.0
#include "transformer/model.hpp"

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rms_norm.h>

#include <cmath>
#include <stdexcept>
#include <utility>

namespace kymo::transformer {
namespace {

at::Tensor normal(std::int64_t rows, std::int64_t columns, double deviation, const at::TensorOptions& options,
                  at::Generator& generator) {
  return at::empty({rows, columns}, options).normal_(0, deviation, generator).requires_grad_(true);
}

at::Tensor weight(std::int64_t outputs, std::int64_t inputs, const at::TensorOptions& options,
                  at::Generator& generator) {
  return normal(outputs, inputs, std::sqrt(2.0 / static_cast<double>(inputs + outputs)), options, generator);
}

at::Tensor gain(std::int64_t width, const at::TensorOptions& options) {
  return at::ones({width}, options).requires_grad_(true);
}

}  // namespace

Weights make_weights(const Config& config, const at::TensorOptions& options, at::Generator generator) {
  validate(config);
  const std::int64_t d = config.d_model, f = config.d_ff;
  Weights made;
  made.embedding = normal(config.vocab_size, d, 1.0, options, generator);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    BlockWeights block;
    block.attention_norm = gain(d, options);
    // Query, key and value are three square weights that share memory: each has the standard deviation of its own
    // shape.
    block.query_key_value = normal(3 * d, d, std::sqrt(1.0 / static_cast<double>(d)), options, generator);
    block.attention_output = weight(d, d, options, generator);
    block.feed_forward_norm = gain(d, options);
    block.gate_and_up = normal(2 * f, d, std::sqrt(2.0 / static_cast<double>(d + f)), options, generator);
    block.down = weight(d, f, options, generator);
    made.blocks.push_back(std::move(block));
  }
  made.norm = gain(d, options);
  made.head = weight(config.vocab_size, d, options, generator);
  return made;
}

std::vector<at::Tensor> parameters(const Weights& weights) {
  std::vector<at::Tensor> all{weights.embedding};
  for (const BlockWeights& block : weights.blocks)
    all.insert(all.end(), {block.attention_norm, block.query_key_value, block.attention_output, block.feed_forward_norm,
                           block.gate_and_up, block.down});
  all.insert(all.end(), {weights.norm, weights.head});
  return all;
}

LanguageModel::LanguageModel(const Config& config, Weights weights, const std::string& attention)
    : config_(config), weights_(std::move(weights)) {
  validate(config_);
  attention_ = make_attention(attention, /*causal=*/true);
  rotary_ = make_rotary(config_.context, config_.head_dim(), config_.rope_theta, weights_.embedding.options());
  for (std::int64_t layer = 0; layer < config_.layers; ++layer)
    block_names_.push_back("block_" + std::to_string(layer));
}

at::Tensor LanguageModel::logits(const Context& ctx, const at::Tensor& tokens) {
  const std::int64_t batch = tokens.size(0), sequence = tokens.size(1);
  if (sequence > config_.context)
    throw std::invalid_argument("a sequence of " + std::to_string(sequence) + " tokens is longer than the context of " +
                                std::to_string(config_.context));
  const Rotary rotary = first_positions(rotary_, sequence);
  at::Tensor stream;
  {
    auto scope = ctx.scope("embedding");
    stream = at::embedding(weights_.embedding, tokens.reshape({-1}));
  }
  for (std::size_t i = 0; i < weights_.blocks.size(); ++i) stream = block(ctx, i, stream, rotary, batch);
  const at::Tensor normed = normalise(ctx, stream, weights_.norm);
  auto scope = ctx.scope("head");
  return at::linear(normed, weights_.head);
}

at::Tensor LanguageModel::loss(const Context& ctx, const at::Tensor& tokens, const at::Tensor& targets) {
  const at::Tensor predicted = logits(ctx, tokens);
  auto scope = ctx.scope("loss");
  return at::cross_entropy_loss(predicted, targets.reshape({-1}));
}

at::Tensor LanguageModel::block(const Context& ctx, std::size_t index, const at::Tensor& stream, const Rotary& rotary,
                                std::int64_t batch) {
  auto scope = ctx.scope(block_names_[index]);
  const BlockWeights& weights = weights_.blocks[index];
  const at::Tensor attended =
      stream.add(attend(ctx, weights, normalise(ctx, stream, weights.attention_norm), rotary, batch));
  return attended.add(feed_forward(ctx, weights, normalise(ctx, attended, weights.feed_forward_norm)));
}

at::Tensor LanguageModel::attend(const Context& ctx, const BlockWeights& weights, const at::Tensor& input,
                                 const Rotary& rotary, std::int64_t batch) {
  auto scope = ctx.scope("attention");
  const at::Tensor projected = [&] {
    auto part = ctx.scope("projection");
    return at::linear(input, weights.query_key_value);
  }();
  const auto [query, key, value] = [&] {
    auto part = ctx.scope("rotation");
    return split_and_rotate(projected, rotary, batch, config_.heads, attention_->layout());
  }();
  const at::Tensor mixed = attention_->apply(ctx, query, key, value);
  auto part = ctx.scope("output");
  return at::linear(mixed.transpose(1, 2).reshape(input.sizes()), weights.attention_output);
}

at::Tensor LanguageModel::feed_forward(const Context& ctx, const BlockWeights& weights, const at::Tensor& input) {
  auto scope = ctx.scope("feed_forward");
  return at::linear(swiglu(at::linear(input, weights.gate_and_up)), weights.down);
}

at::Tensor LanguageModel::normalise(const Context& ctx, const at::Tensor& input, const at::Tensor& weight) {
  auto scope = ctx.scope("norm");
  return at::rms_norm(input, {config_.d_model}, weight, config_.norm_epsilon);
}

}  // namespace kymo::transformer
