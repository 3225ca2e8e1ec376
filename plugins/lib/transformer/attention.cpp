// SPDX-License-Identifier: Apache-2.0
#include "transformer/attention.hpp"

#include <ATen/ops/bmm.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace kymo::transformer {
namespace {

class NaiveAttention final : public Attention {
 public:
  explicit NaiveAttention(bool causal) : causal_(causal) {}

  Layout layout() const override { return Layout::kHeadsFirst; }

  at::Tensor apply(const Context& ctx, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) override {
    const auto batch = query.size(0), heads = query.size(1), length = query.size(2), width = query.size(3);
    const std::vector<std::int64_t> flat{batch * heads, length, width};
    at::Tensor scores = multiply(ctx, query.reshape(flat), key.reshape(flat));
    at::Tensor weights;
    {
      auto scope = ctx.scope("softmax");
      weights = at::softmax(scores, -1);
    }
    scores.reset();  // autograd keeps the weights, not the scores
    auto scope = ctx.scope("values");
    return at::bmm(weights, value.reshape(flat)).view({batch, heads, length, width});
  }

 private:
  at::Tensor multiply(const Context& ctx, const at::Tensor& query, const at::Tensor& key) {
    auto scope = ctx.scope("scores");
    // Scaling the query costs length × head_dim where scaling the scores would cost length².
    at::Tensor scores = at::bmm(query.mul(1 / std::sqrt(static_cast<double>(query.size(-1)))), key.transpose(-2, -1));
    // Adding −∞ in place needs no memory, and nothing at all on the way back: a hidden weight is 0, and so is its gradient.
    if (causal_) scores.add_(mask(scores));
    return scores;
  }

  const at::Tensor& mask(const at::Tensor& scores) {
    const auto length = scores.size(-1);
    if (!mask_.defined() || mask_.size(0) != length || mask_.scalar_type() != scores.scalar_type() || mask_.device() != scores.device()) {
      mask_.reset();
      mask_ = at::full({length, length}, -std::numeric_limits<double>::infinity(), scores.options().requires_grad(false)).triu_(1);
    }
    return mask_;
  }

  bool causal_;
  at::Tensor mask_;  // [sequence, sequence], 0 where a token may look and −∞ elsewhere
};

class SdpaAttention final : public Attention {
 public:
  explicit SdpaAttention(bool causal) : causal_(causal) {}

  Layout layout() const override { return Layout::kTokensFirst; }

  at::Tensor apply(const Context& ctx, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) override {
    auto scope = ctx.scope("sdpa");
    return at::scaled_dot_product_attention(query, key, value, {}, 0.0, causal_);
  }

 private:
  bool causal_;
};

}  // namespace

AttentionFlops attention_flops(double scores, std::int64_t head_dim) {
  const double product = 2 * scores * static_cast<double>(head_dim);
  return {.scores = product, .softmax = 5 * scores, .values = product};
}

void report(const Context& ctx, const AttentionFlops& flops) {
  ctx.metric("attention_scores_flops", flops.scores, "FLOP");
  ctx.metric("attention_softmax_flops", flops.softmax, "FLOP");
  ctx.metric("attention_values_flops", flops.values, "FLOP");
}

const std::vector<std::string>& attention_names() {
  static const std::vector<std::string> names{"naive", "sdpa"};
  return names;
}

std::unique_ptr<Attention> make_attention(std::string_view name, bool causal) {
  if (name == "naive") return std::make_unique<NaiveAttention>(causal);
  if (name == "sdpa") return std::make_unique<SdpaAttention>(causal);
  throw std::invalid_argument("there is no attention '" + std::string(name) + "': it is one of naive, sdpa");
}

}  // namespace kymo::transformer
