// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/verification.hpp>
#include <string>
#include <vector>

#include "transformer/config.hpp"
#include "transformer/model.hpp"

/// The same mathematics in float64 on the CPU, written out plainly: what the fast forms are held against. Slow; for
/// small sizes.
namespace kymo::transformer {

struct ModelReference {
  at::Tensor logits;                  ///< [batch · sequence, vocab_size]
  at::Tensor loss;                    ///< mean cross entropy
  std::vector<at::Tensor> gradients;  ///< of the loss, in the order of named_parameters()
};

/// Weights, tokens and targets may be of any type and device; they are copied.
ModelReference reference_model(const Config& config, const Weights& weights, const at::Tensor& tokens,
                               const at::Tensor& targets);

struct AttentionReference {
  at::Tensor output;
  at::Tensor query_gradient, key_gradient, value_gradient;  ///< given the gradient of the output; undefined if that is
};

/// All tensors are [batch, heads, sequence, head_dim] and are copied. The gradients are the textbook formulas, without
/// autograd.
AttentionReference reference_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                       const at::Tensor& output_gradient, bool causal);

/// How far `actual` lies from `expected` as a whole: the largest absolute difference, and that as a part of the largest
/// expected value. Not finite where `actual` is not.
struct Distance {
  double absolute = 0;
  double relative = 0;
};
Distance distance(const at::Tensor& actual, const at::Tensor& expected);
/// The worst of several tensors by relative distance. Throws std::invalid_argument unless there are as many of both.
Distance worst_distance(const std::vector<at::Tensor>& actual, const std::vector<at::Tensor>& expected);

/// Adds a check that passes if the relative distance is within the tolerance. The absolute one is reported alone:
/// gradients are small, and an absolute bound would let any of them pass.
void hold(Verification& result, const std::string& name, const std::string& reference, const Distance& far,
          double tolerance);

}  // namespace kymo::transformer
