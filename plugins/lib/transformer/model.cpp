// SPDX-License-Identifier: Apache-2.0
#include "transformer/model.hpp"

#include <ATen/ops/alias.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rms_norm.h>

#include <algorithm>
#include <cmath>
#include <kymo/autocast.hpp>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "ops/layers.hpp"

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

at::Tensor converted(const at::Tensor& parameter, at::ScalarType dtype) {
  return parameter.detach().to(dtype, /*non_blocking=*/false, /*copy=*/true).requires_grad_(true);
}

/// The type of the inputs of matrix products, to which a fused norm rounds.
at::ScalarType product_type(const at::Tensor& stream) {
  const auto autocast = libtorch::enabled_autocast(stream.device().type());
  return autocast && stream.scalar_type() == at::kFloat ? autocast->dtype : stream.scalar_type();
}

}  // namespace

Weights make_weights(const Config& config, const at::TensorOptions& options, at::Generator generator) {
  validate(config);
  const std::int64_t d = config.d_model, f = config.d_ff;
  Weights weights;
  weights.embedding = normal(config.vocab_size, d, 1.0, options, generator);
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
    weights.blocks.push_back(std::move(block));
  }
  weights.norm = gain(d, options);
  weights.head = weight(config.vocab_size, d, options, generator);
  return weights;
}

Weights converted(Weights weights, at::ScalarType dtype) {
  weights = with_converted_products(std::move(weights), dtype);
  for (BlockWeights& block : weights.blocks)
    for (at::Tensor* norm : {&block.attention_norm, &block.feed_forward_norm}) *norm = converted(*norm, dtype);
  for (at::Tensor* weight : {&weights.embedding, &weights.norm}) *weight = converted(*weight, dtype);
  return weights;
}

Weights with_converted_products(Weights weights, at::ScalarType dtype) {
  for (BlockWeights& block : weights.blocks)
    for (at::Tensor* weight : {&block.query_key_value, &block.attention_output, &block.gate_and_up, &block.down})
      *weight = converted(*weight, dtype);
  weights.head = converted(weights.head, dtype);
  return weights;
}

std::vector<at::Tensor> parameters(const Weights& weights) {
  std::vector<at::Tensor> all{weights.embedding};
  for (const BlockWeights& block : weights.blocks)
    all.insert(all.end(), {block.attention_norm, block.query_key_value, block.attention_output, block.feed_forward_norm,
                           block.gate_and_up, block.down});
  all.insert(all.end(), {weights.norm, weights.head});
  return all;
}

std::vector<std::string> parameter_names(const Weights& weights) {
  std::vector<std::string> names{"embedding"};
  for (std::size_t i = 0; i < weights.blocks.size(); ++i)
    for (const char* name :
         {"attention_norm", "query_key_value", "attention_output", "feed_forward_norm", "gate_and_up", "down"})
      names.push_back("block_" + std::to_string(i) + "/" + name);
  names.insert(names.end(), {"norm", "head"});
  return names;
}

at::Tensor linear(const at::Tensor& input, const at::Tensor& weight, WeightUse* use) {
  if (use) use->begin(weight);
  at::Tensor result = at::linear(input, weight);
  if (use) use->end(weight, result, /*in_backward=*/true);
  return result;
}

LanguageModel::LanguageModel(const Config& config, Weights weights, const std::string& attention,
                             const FusedLayers& fused, const CheckpointSetting& checkpoint)
    : config_(config), weights_(std::move(weights)), fused_(fused), checkpoint_(checkpoint) {
  validate(config_);
  attention_ = make_attention(attention, /*causal=*/true);
  rotary_ = make_rotary(config_.context, config_.head_dim(), config_.rope_theta, weights_.embedding.options());
  for (std::int64_t layer = 0; layer < config_.layers; ++layer)
    block_names_.push_back("block_" + std::to_string(layer));
}

at::Tensor LanguageModel::hidden(const Context& ctx, const at::Tensor& tokens) {
  const std::int64_t batch = tokens.size(0), sequence = tokens.size(1);
  if (sequence > config_.context)
    throw std::invalid_argument("a sequence of " + std::to_string(sequence) + " tokens is longer than the context of " +
                                std::to_string(config_.context));
  const Rotary rotary = first_positions(rotary_, sequence);
  Stream stream;
  {
    auto scope = ctx.scope("embedding");
    if (use_) use_->begin(weights_.embedding);
    stream.sum = at::embedding(weights_.embedding, tokens.reshape({-1}));
    if (use_) use_->end(weights_.embedding, stream.sum, /*in_backward=*/false);
  }
  segments(ctx, 0, weights_.blocks.size(), stream, rotary, batch);
  return normalise(ctx, stream, weights_.norm, "").result();
}

at::Tensor LanguageModel::logits(const Context& ctx, const at::Tensor& tokens) {
  const at::Tensor normed = hidden(ctx, tokens);
  auto scope = ctx.scope("head");
  return linear(normed, weights_.head, use_);
}

at::Tensor LanguageModel::loss(const Context& ctx, const at::Tensor& tokens, const at::Tensor& targets) {
  if (fused_.loss) {
    const at::Tensor normed = hidden(ctx, tokens);
    auto head = ctx.scope("head");
    auto scope = ctx.scope("loss");
    if (use_) use_->begin(weights_.head);
    at::Tensor found = ops::linear_cross_entropy(normed, weights_.head, targets.reshape({-1}));
    if (use_) use_->end(weights_.head, found, /*in_backward=*/false);  // the forward pass computes the gradients
    return found;
  }
  const at::Tensor predicted = logits(ctx, tokens);
  auto scope = ctx.scope("loss");
  return at::cross_entropy_loss(predicted, targets.reshape({-1}));
}

void LanguageModel::segments(const Context& ctx, std::size_t first, std::size_t end, Stream& stream,
                             const Rotary& rotary, std::int64_t batch) {
  const auto smallest = static_cast<std::size_t>(checkpoint_.blocks);
  switch (checkpoint_.kind) {
    case Checkpointing::kBlocks:
      for (std::size_t i = first; i < end; i += smallest)
        segment(ctx, i, std::min(end, i + smallest), stream, rotary, batch);
      return;
    case Checkpointing::kNested:
      if (const std::size_t half = (end - first) / 2; half >= smallest) {
        segment(ctx, first, first + half, stream, rotary, batch);
        segment(ctx, first + half, end, stream, rotary, batch);
        return;
      }
      break;
    case Checkpointing::kNone:
    case Checkpointing::kSelective:
      break;
  }
  for (std::size_t i = first; i < end; ++i) block(ctx, i, stream, rotary, batch);
}

void LanguageModel::segment(const Context& ctx, std::size_t first, std::size_t end, Stream& stream,
                            const Rotary& rotary, std::int64_t batch) {
  const Part part = [=, this](const std::vector<at::Tensor>& inputs) {
    Stream inner{.sum = inputs.front(), .branch = inputs.size() > 1 ? inputs.back() : at::Tensor()};
    if (checkpoint_.kind == Checkpointing::kNested) {
      segments(ctx, first, end, inner, rotary, batch);
    } else {
      for (std::size_t i = first; i < end; ++i) block(ctx, i, inner, rotary, batch);
    }
    return inner.branch.defined() ? std::vector{inner.sum, inner.branch} : std::vector{inner.sum};
  };
  const std::vector<at::Tensor> outputs = checkpointed(
      ctx, stream.branch.defined() ? std::vector{stream.sum, stream.branch} : std::vector{stream.sum}, part);
  stream = {.sum = outputs.front(), .branch = outputs.size() > 1 ? outputs.back() : at::Tensor()};
}

void LanguageModel::block(const Context& ctx, std::size_t index, Stream& stream, const Rotary& rotary,
                          std::int64_t batch) {
  const std::string& name = block_names_[index];
  auto scope = ctx.scope(name);
  const BlockWeights& weights = weights_.blocks[index];
  add(stream, attend(ctx, index, normalise(ctx, stream, weights.attention_norm, name), rotary, batch));
  add(stream, feed_forward(ctx, index, normalise(ctx, stream, weights.feed_forward_norm, name)));
}

at::Tensor LanguageModel::attend(const Context& ctx, std::size_t index, Discardable input, const Rotary& rotary,
                                 std::int64_t batch) {
  auto scope = ctx.scope("attention");
  const BlockWeights& weights = weights_.blocks[index];
  const std::vector<std::int64_t> shape = input.result().sizes().vec();
  const at::Tensor projected = [&] {
    auto part = ctx.scope("projection");
    return linear(input.result(), weights.query_key_value, use_);
  }();
  input.discard_after(projected);
  const auto [query, key, value] = [&] {
    auto part = ctx.scope("rotation");
    return split_and_rotate(projected, rotary, batch, config_.heads, attention_->layout(), fused_.rotary);
  }();
  if (checkpoint_.kind == Checkpointing::kSelective) attention_->recompute_in({block_names_[index], "attention"});
  const at::Tensor mixed = attention_->apply(ctx, query, key, value);
  auto part = ctx.scope("output");
  return linear(mixed.transpose(1, 2).reshape(shape), weights.attention_output, use_);
}

at::Tensor LanguageModel::feed_forward(const Context& ctx, std::size_t index, Discardable input) const {
  auto scope = ctx.scope("feed_forward");
  const BlockWeights& weights = weights_.blocks[index];
  const at::Tensor gate_and_up = linear(input.result(), weights.gate_and_up, use_);
  std::optional<Discardable> recomputed;
  if (checkpoint_.recomputes_gate_and_up(index)) {
    const Part part = [weight = weights.gate_and_up, use = use_](const std::vector<at::Tensor>& inputs) {
      return std::vector{linear(inputs.front(), weight, use)};
    };
    recomputed.emplace(ctx, std::vector<std::string>{block_names_[index], "feed_forward"}, gate_and_up,
                       std::vector{input.result()}, part);
  } else {
    input.discard_after(gate_and_up);
  }
  const Part activate = [fused = fused_.swiglu](const std::vector<at::Tensor>& inputs) {
    return std::vector{fused ? ops::swiglu(inputs.front()) : swiglu(inputs.front())};
  };
  Discardable activated = checkpoint_.kind == Checkpointing::kSelective
                              ? Discardable(ctx, {block_names_[index], "feed_forward"}, {gate_and_up}, activate)
                              : Discardable(activate({gate_and_up}).front());
  at::Tensor result = linear(activated.result(), weights.down, use_);
  if (recomputed) {
    input.discard_after(result);
    recomputed->discard_after(result);
  }
  activated.discard_after(result);
  return result;
}

Discardable LanguageModel::normalise(const Context& ctx, Stream& stream, const at::Tensor& weight,
                                     const std::string& block) const {
  if (!fused_.norm) {
    const Part part = [=, this](const std::vector<at::Tensor>& inputs) {
      auto scope = ctx.scope("norm");
      // On the CPU, a norm consists of operators that use its input twice. Their gradients are added up before that of
      // the residual stream, as if the norm were one operator, so that all kinds of checkpoints round equally.
      const at::Tensor input = inputs.front().is_cuda() ? inputs.front() : at::alias(inputs.front());
      return std::vector{at::rms_norm(input, {config_.d_model}, weight, config_.norm_epsilon)};
    };
    if (checkpoint_.kind != Checkpointing::kSelective || block.empty()) return Discardable(part({stream.sum}).front());
    // Autocast would keep a copy of the result, which is therefore cast here.
    return Discardable(ctx, {block}, {stream.sum}, [=](const std::vector<at::Tensor>& inputs) {
      return std::vector{part(inputs).front().to(product_type(inputs.front()))};
    });
  }
  auto scope = ctx.scope("norm");
  const Part part = [weight, epsilon = config_.norm_epsilon](const std::vector<at::Tensor>& inputs) {
    return std::vector{ops::rms_norm(inputs.front(), weight, epsilon, product_type(inputs.front()))};
  };
  at::Tensor normed;
  if (stream.branch.defined()) {
    std::tie(normed, stream.sum) = ops::add_rms_norm(stream.branch, stream.sum, weight, config_.norm_epsilon);
    stream.branch.reset();
  } else {
    normed = part({stream.sum}).front();
  }
  if (checkpoint_.kind != Checkpointing::kSelective || block.empty()) return Discardable(normed);
  return Discardable(ctx, {block, "norm"}, normed, {stream.sum}, part);
}

void LanguageModel::add(Stream& stream, const at::Tensor& branch) const {
  if (fused_.norm)
    stream.branch = branch;
  else
    stream.sum = stream.sum.add(branch);
}

}  // namespace kymo::transformer
