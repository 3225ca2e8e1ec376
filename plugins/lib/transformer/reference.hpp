// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/verification.hpp>
#include <string>
#include <vector>

#include "transformer/config.hpp"
#include "transformer/model.hpp"

/// Plain float64 CPU implementations, used to verify the optimized ones. Slow; for small sizes.
namespace kymo::transformer {

struct ModelReference {
  at::Tensor logits;                  ///< [batch · sequence, vocab_size]
  at::Tensor loss;                    ///< mean cross entropy
  std::vector<at::Tensor> gradients;  ///< of the loss, in the order of parameters()
};

/// Weights, tokens and targets may have any type and device; they are copied.
ModelReference reference_model(const Config& config, const Weights& weights, const at::Tensor& tokens,
                               const at::Tensor& targets);

struct AttentionReference {
  at::Tensor output;
  at::Tensor query_gradient, key_gradient, value_gradient;  ///< undefined if the gradient of the output is
};

/// All tensors are [batch, heads, sequence, head_dim] and are copied. The gradients use explicit formulas, without
/// autograd.
AttentionReference reference_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                       const at::Tensor& output_gradient, bool causal);

/// Distance between `actual` and `expected`: the largest absolute difference, and the same relative to the largest
/// expected value. Not finite if `actual` is not.
struct Distance {
  double absolute = 0;
  double relative = 0;
};
Distance distance(const at::Tensor& actual, const at::Tensor& expected);
/// The largest relative distance of several tensors. Throws std::invalid_argument unless both lists have the same size.
Distance worst_distance(const std::vector<at::Tensor>& actual, const std::vector<at::Tensor>& expected);

/// Adds a check that passes if the relative distance is within the tolerance. The absolute distance is only reported:
/// gradients are small, so an absolute bound would accept any of them.
void expect_close(Verification& result, const std::string& name, const std::string& reference, const Distance& far,
                  double tolerance);

}  // namespace kymo::transformer
