// SPDX-License-Identifier: Apache-2.0
#include "transformer/reference.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace kymo::transformer {
namespace {

at::Tensor exact_copy(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU, at::kDouble).clone().contiguous();
}

at::Tensor exact_leaf(const at::Tensor& tensor) { return exact_copy(tensor).requires_grad_(true); }

Weights exact_weights(const Weights& weights) {
  Weights copy{exact_leaf(weights.embedding), {}, exact_leaf(weights.norm), exact_leaf(weights.head)};
  for (const BlockWeights& block : weights.blocks)
    copy.blocks.push_back({exact_leaf(block.attention_norm), exact_leaf(block.query_key_value),
                           exact_leaf(block.attention_output), exact_leaf(block.feed_forward_norm),
                           exact_leaf(block.gate_and_up), exact_leaf(block.down)});
  return copy;
}

at::Tensor normalised(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  const at::Tensor mean_square = (x * x).sum(-1, /*keepdim=*/true) / static_cast<double>(x.size(-1));
  return x / (mean_square + epsilon).sqrt() * weight;
}

/// One head [sequence, head_dim] with each pair of columns rotated by the rotation matrix.
at::Tensor rotated(const at::Tensor& head, double theta) {
  const std::int64_t length = head.size(0), width = head.size(1);
  std::vector<at::Tensor> columns;
  for (std::int64_t pair = 0; pair < width / 2; ++pair) {
    const double rate = 1 / std::pow(theta, 2.0 * static_cast<double>(pair) / static_cast<double>(width));
    const at::Tensor angle = at::arange(length, head.options().requires_grad(false)) * rate;
    const at::Tensor even = head.select(1, 2 * pair), odd = head.select(1, 2 * pair + 1);
    columns.push_back(even * angle.cos() - odd * angle.sin());
    columns.push_back(even * angle.sin() + odd * angle.cos());
  }
  return at::stack(columns, 1);
}

/// One head of causal attention, computed per query over its visible keys.
at::Tensor attended(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  std::vector<at::Tensor> rows;
  for (std::int64_t i = 0; i < query.size(0); ++i) {
    const at::Tensor scores =
        (key.narrow(0, 0, i + 1) * query[i]).sum(1) / std::sqrt(static_cast<double>(query.size(1)));
    const at::Tensor powers = (scores - scores.max().detach()).exp();
    rows.push_back(((powers / powers.sum()).unsqueeze(1) * value.narrow(0, 0, i + 1)).sum(0));
  }
  return at::stack(rows);
}

at::Tensor attention(const Config& config, const BlockWeights& weights, const at::Tensor& x) {
  const std::int64_t width = config.head_dim();
  std::vector<at::Tensor> heads;
  for (std::int64_t h = 0; h < config.heads; ++h) {
    const auto part = [&](std::int64_t which) {
      return x.mm(weights.query_key_value.narrow(0, which * config.d_model + h * width, width).t());
    };
    heads.push_back(attended(rotated(part(0), config.rope_theta), rotated(part(1), config.rope_theta), part(2)));
  }
  return at::cat(heads, 1).mm(weights.attention_output.t());
}

at::Tensor feed_forward(const Config& config, const BlockWeights& weights, const at::Tensor& x) {
  const at::Tensor gate = x.mm(weights.gate_and_up.narrow(0, 0, config.d_ff).t());
  const at::Tensor up = x.mm(weights.gate_and_up.narrow(0, config.d_ff, config.d_ff).t());
  return (gate / ((-gate).exp() + 1.0) * up).mm(weights.down.t());
}

at::Tensor sequence_logits(const Config& config, const Weights& weights, const at::Tensor& tokens) {
  at::Tensor x = weights.embedding.index_select(0, tokens);
  for (const BlockWeights& block : weights.blocks) {
    x = x + attention(config, block, normalised(x, block.attention_norm, config.norm_epsilon));
    x = x + feed_forward(config, block, normalised(x, block.feed_forward_norm, config.norm_epsilon));
  }
  return normalised(x, weights.norm, config.norm_epsilon).mm(weights.head.t());
}

at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& targets) {
  const at::Tensor shifted = logits - logits.amax(-1, /*keepdim=*/true).detach();
  const at::Tensor normaliser = shifted.exp().sum(-1).log();
  return (normaliser - shifted.gather(1, targets.unsqueeze(1)).squeeze(1)).sum() / static_cast<double>(targets.size(0));
}

/// One head of attention and, if `gradient` is defined, its gradients.
void attention_head(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& gradient,
                    bool causal, AttentionReference& to, std::int64_t batch, std::int64_t head) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(1)));
  at::Tensor powers = (q.mm(k.t()) * scale);
  if (causal) powers = powers.tril() + (powers.detach() * 0 - std::numeric_limits<double>::infinity()).triu(1);
  powers = (powers - powers.amax(1, /*keepdim=*/true)).exp();
  const at::Tensor weights = powers / powers.sum(1, /*keepdim=*/true);
  const at::Tensor output = weights.mm(v);
  to.output[batch][head].copy_(output);
  if (!gradient.defined()) return;
  const at::Tensor to_weights = gradient.mm(v.t());
  const at::Tensor to_scores = weights * (to_weights - (gradient * output).sum(1, /*keepdim=*/true));
  to.value_gradient[batch][head].copy_(weights.t().mm(gradient));
  to.query_gradient[batch][head].copy_(to_scores.mm(k) * scale);
  to.key_gradient[batch][head].copy_(to_scores.t().mm(q) * scale);
}

}  // namespace

ModelReference reference_model(const Config& config, const Weights& weights, const at::Tensor& tokens,
                               const at::Tensor& targets) {
  validate(config);
  const c10::AutoGradMode with_gradients(true);
  const Weights exact = exact_weights(weights);
  std::vector<at::Tensor> rows;
  const at::Tensor host_tokens = tokens.to(at::kCPU);
  for (std::int64_t row = 0; row < host_tokens.size(0); ++row)
    rows.push_back(sequence_logits(config, exact, host_tokens[row]));
  const at::Tensor logits = at::cat(rows);
  const at::Tensor loss = cross_entropy(logits, targets.to(at::kCPU).reshape({-1}));
  loss.backward();
  ModelReference result{logits.detach(), loss.detach(), {}};
  for (const at::Tensor& parameter : parameters(exact)) result.gradients.push_back(parameter.grad());
  return result;
}

AttentionReference reference_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                       const at::Tensor& output_gradient, bool causal) {
  const c10::NoGradGuard no_gradients;
  const at::Tensor q = exact_copy(query), k = exact_copy(key), v = exact_copy(value);
  const at::Tensor gradient = output_gradient.defined() ? exact_copy(output_gradient) : at::Tensor();
  AttentionReference result;
  result.output = at::zeros_like(q);
  if (gradient.defined()) {
    result.query_gradient = at::zeros_like(q);
    result.key_gradient = at::zeros_like(k);
    result.value_gradient = at::zeros_like(v);
  }
  for (std::int64_t b = 0; b < q.size(0); ++b)
    for (std::int64_t h = 0; h < q.size(1); ++h)
      attention_head(q[b][h], k[b][h], v[b][h], gradient.defined() ? gradient[b][h] : gradient, causal, result, b, h);
  return result;
}

Distance distance(const at::Tensor& actual, const at::Tensor& expected) {
  const c10::NoGradGuard no_gradients;
  const at::Tensor exact = exact_copy(expected);
  const double absolute = (exact_copy(actual) - exact).abs().max().item<double>();
  const double largest = exact.abs().max().item<double>();
  return {absolute, largest > 0 ? absolute / largest : absolute};
}

Distance worst_distance(const std::vector<at::Tensor>& actual, const std::vector<at::Tensor>& expected) {
  if (actual.size() != expected.size())
    throw std::invalid_argument(std::to_string(actual.size()) + " tensors cannot be compared with " +
                                std::to_string(expected.size()));
  Distance worst;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const Distance one = distance(actual[i], expected[i]);
    if (!(one.relative <= worst.relative)) worst = one;
    if (std::isnan(worst.relative)) break;
  }
  return worst;
}

void expect_close(Verification& result, const std::string& name, const std::string& reference, const Distance& far,
                  double tolerance) {
  const Outcome outcome = far.relative <= tolerance ? Outcome::Passed : Outcome::Failed;
  result.check({name, reference, outcome, "", {far.absolute, far.relative}, tolerance});
}

}  // namespace kymo::transformer
