// SPDX-License-Identifier: Apache-2.0
// softmax(scale · Q·Kᵀ)·V as two matrix multiplications and a softmax, and its gradients by the chain rule:
//
//   S  = scale · Q·Kᵀ          P = softmax(S), row by row          O = P·V
//   dV = Pᵀ·dO                 dP = dO·Vᵀ                          dS = P ∘ (dP − rowsum(P ∘ dP))
//   dQ = scale · dS·K          dK = scale · dSᵀ·Q
//
// S and P have query length × key length elements per head; the other implementations avoid storing them.
#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>

#include <limits>

#include "ops/kernels.hpp"

namespace kymo::ops::naive {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// [batch · key heads, group · length, d] in the accumulator type: the query heads that share a key head are stacked
/// along the rows.
at::Tensor fold(const at::Tensor& tensor, std::int64_t key_heads) {
  return tensor.to(accumulator_of(tensor.scalar_type())).reshape({tensor.size(0) * key_heads, -1, tensor.size(3)});
}

/// Scores of all heads, −∞ where a query does not see a key: [batch · key heads, group · query length, key length].
at::Tensor scores_of(const at::Tensor& query, const at::Tensor& key, const at::Tensor& shape_of,
                     const Setting& setting) {
  at::Tensor scores = at::bmm(query * setting.scale, key.transpose(1, 2));
  if (!setting.causal) return scores;
  const std::int64_t query_length = shape_of.size(2), key_length = key.size(1);
  const at::Tensor hidden = at::ones({query_length, key_length}, scores.options().dtype(at::kBool))
                                .triu(causal_offset(query_length, key_length) + 1);
  scores.view({scores.size(0), scores.size(1) / query_length, query_length, key_length})
      .masked_fill_(hidden, -kInfinity);
  return scores;
}

/// A row without visible keys has no softmax: its weights are 0.
at::Tensor weights_of(const at::Tensor& scores) {
  const at::Tensor empty_rows = scores.amax(-1, /*keepdim=*/true) == -kInfinity;
  return at::softmax(scores, -1).masked_fill_(empty_rows, 0);
}

}  // namespace

void forward(const ForwardTensors& tensors, const Setting& setting) {
  const std::int64_t key_heads = tensors.key.size(1);
  const at::Tensor scores =
      scores_of(fold(tensors.query, key_heads), fold(tensors.key, key_heads), tensors.query, setting);
  tensors.log_sum_exp.copy_(at::logsumexp(scores, -1).view(tensors.log_sum_exp.sizes()));
  tensors.output.copy_(at::bmm(weights_of(scores), fold(tensors.value, key_heads)).view(tensors.output.sizes()));
}

void backward(const BackwardTensors& tensors, const Setting& setting) {
  const std::int64_t key_heads = tensors.key.size(1);
  const at::Tensor query = fold(tensors.query, key_heads), key = fold(tensors.key, key_heads),
                   value = fold(tensors.value, key_heads);
  const at::Tensor output_gradient = fold(tensors.output_gradient, key_heads);
  const at::Tensor weights = weights_of(scores_of(query, key, tensors.query, setting));
  const at::Tensor weight_gradient = at::bmm(output_gradient, value.transpose(1, 2));
  const at::Tensor row_sums = (weights * weight_gradient).sum(-1, /*keepdim=*/true);
  const at::Tensor score_gradient = weights * (weight_gradient - row_sums) * setting.scale;
  // Summing over the rows of a group gives the complete gradients of a shared key and value.
  tensors.value_gradient.copy_(at::bmm(weights.transpose(1, 2), output_gradient).view(tensors.value.sizes()));
  tensors.key_gradient.copy_(at::bmm(score_gradient.transpose(1, 2), query).view(tensors.key.sizes()));
  tensors.query_gradient.copy_(at::bmm(score_gradient, key).view(tensors.query.sizes()));
}

}  // namespace kymo::ops::naive
