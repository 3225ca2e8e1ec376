// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2, backward (Dao 2023, algorithm 2).
//
// The weights P were not saved. Any tile of them is recomputed, already normalized, from the log-sum-exp L of each row:
//
//   P = exp(S − L)
//
// The gradient of a softmax needs rowsum(P ∘ dP) over a whole row. As O = P·V and dP = dO·Vᵀ, this equals rowsum(dO ∘
// O), one value per row, which is computed first (D):
//
//   D = rowsum(dO ∘ O)
//   for each key tile j:
//     dKj = 0, dVj = 0                                     complete when the inner loop ends
//     for each query tile i that sees any key of j:
//       P   = exp(scale · Qi·Kjᵀ − Li)                     0 where masked
//       dVj += Pᵀ·dOi
//       dS  = P ∘ (dOi·Vjᵀ − Di)
//       dKj += scale · dSᵀ·Qi
//       dQi += scale · dS·Kj                               summed over the outer loop, in full precision
//
// Five matrix multiplications instead of the forward pass's two, so 2.5 times its work. The order of every sum is
// fixed: the same inputs give bitwise equal results.
#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/zeros.h>

#include "ops/tiled.hpp"
#include "ops/tiles.hpp"

namespace kymo::ops::tiled {
namespace {

struct KeyGradients {
  at::Tensor key, value;  ///< dKj and dVj: [batch · key heads, keys, d]
};

/// L and D, [batch, query heads, query length] in the accumulator type.
struct RowNumbers {
  at::Tensor log_sum_exp, gradient_dot_output;
};

RowNumbers row_numbers(const BackwardTensors& tensors, const Sizes& sizes) {
  const at::Tensor& output = tensors.output;
  // exp(S − L) with L = +∞ instead of −∞ makes the weights of a row that sees no key 0 instead of NaN.
  RowNumbers numbers{tensors.log_sum_exp.masked_fill(tensors.log_sum_exp == kMinusInfinity, -kMinusInfinity),
                     at::zeros({sizes.batch, output.size(1), sizes.query_length},
                               output.options().dtype(accumulator_of(output.scalar_type())))};
  for (std::int64_t i = 0; i < sizes.query_length; i += kQueryRows) {
    const Rows queries = tile_from(i, kQueryRows, sizes.query_length);
    const at::Tensor to = rows_of(numbers.gradient_dot_output, queries);
    to.copy_((query_tile(tensors.output_gradient, sizes, queries) * query_tile(output, sizes, queries))
                 .sum(-1)
                 .view(to.sizes()));
  }
  return numbers;
}

}  // namespace

void backward(const BackwardTensors& tensors, const Setting& setting) {
  const Sizes sizes(tensors.query, tensors.key, setting.causal);
  const RowNumbers numbers = row_numbers(tensors, sizes);
  const at::Tensor query_gradient =
      at::zeros(tensors.query.sizes(), tensors.query.options().dtype(accumulator_of(tensors.query.scalar_type())));
  for (std::int64_t j = 0; j < sizes.key_length; j += kKeyRows) {
    const Rows keys = tile_from(j, kKeyRows, sizes.key_length);
    const at::Tensor key = key_tile(tensors.key, sizes, keys), value = key_tile(tensors.value, sizes, keys);
    const KeyGradients sums{at::zeros(key.sizes(), key.options()), at::zeros(value.sizes(), value.options())};
    for (std::int64_t i = sizes.first_that_sees(keys); i < sizes.query_length; i += kQueryRows) {
      const Rows queries = tile_from(i, kQueryRows, sizes.query_length);
      const at::Tensor query = query_tile(tensors.query, sizes, queries);
      const at::Tensor output_gradient = query_tile(tensors.output_gradient, sizes, queries);
      const at::Tensor weights = score_tile(query, key, sizes, queries, keys, setting.scale)
                                     .sub_(row_tile(numbers.log_sum_exp, sizes, queries))
                                     .exp_();
      sums.value.baddbmm_(weights.transpose(1, 2), output_gradient);
      const at::Tensor score_gradient = at::bmm(output_gradient, value.transpose(1, 2))
                                            .sub_(row_tile(numbers.gradient_dot_output, sizes, queries))
                                            .mul_(weights)
                                            .mul_(setting.scale);
      sums.key.baddbmm_(score_gradient.transpose(1, 2), query);
      const at::Tensor to = rows_of(query_gradient, queries);
      to.add_(at::bmm(score_gradient, key).view(to.sizes()));
    }
    const at::Tensor key_to = rows_of(tensors.key_gradient, keys), value_to = rows_of(tensors.value_gradient, keys);
    key_to.copy_(sums.key.view(key_to.sizes()));
    value_to.copy_(sums.value.view(value_to.sizes()));
  }
  tensors.query_gradient.copy_(query_gradient);
}

}  // namespace kymo::ops::tiled
