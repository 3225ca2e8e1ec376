// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2, forward (Dao 2023, algorithm 1).
//
// A softmax needs the sum over a whole row of scores, which is too long to store. Two properties allow processing it in
// tiles:
//
//   1. The softmax of a row is unchanged if one value m is subtracted from all of its scores, and m may change: sums
//      taken with an old m are rescaled by a factor exp(m_old − m_new). A row can therefore be processed in tiles, with
//      m the running maximum ("online softmax", Milakov and Gimelshein 2018), so that no exponential overflows.
//   2. The division by the row's sum can be deferred: O stays unnormalized and is divided once, not once per tile.
//
//            keys ──►  tile 0   tile 1   tile 2            for each query tile i:
//   queries   ┌─────────┬────────┬────────┐                  O = 0, l = 0 (sums), m = −∞ (maxima)
//      │      │  S = scale·Qi·Kjᵀ         │                  for each key tile j that any query of i sees:
//      ▼  i   │ ──────────────────────►   │                    S = scale · Qi·Kjᵀ                  −∞ where masked
//             ├─────────┼────────┼────────┤                    m' = max(m, rowmax S)
//             │   with a causal mask the  │                    P = exp(S − m'),  α = exp(m − m')
//             │   tiles above the         │                    l = α·l + rowsum P,  O = α·O + P·Vj,  m = m'
//             └─────────  diagonal are    │                  O = O / l
//                         never visited  ─┘                  L = m + log l      (log-sum-exp, saved for backward)
#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/zeros.h>

#include "ops/tiled.hpp"
#include "ops/tiles.hpp"

namespace kymo::ops::tiled {
namespace {

/// State of a query tile after some key tiles.
struct Progress {
  at::Tensor output;   ///< O, unnormalized: [batch · key heads, group · queries, d]
  at::Tensor sum;      ///< l: [batch · key heads, group · queries, 1]
  at::Tensor maximum;  ///< m: the same shape
};

Progress nothing_seen(const at::Tensor& query) {
  const std::vector<std::int64_t> column{query.size(0), query.size(1), 1};
  return {at::zeros(query.sizes(), query.options()), at::zeros(column, query.options()),
          at::full(column, kMinusInfinity, query.options())};
}

void take_in(Progress& so_far, at::Tensor scores, const at::Tensor& value) {
  const at::Tensor maximum = at::maximum(so_far.maximum, scores.amax(-1, /*keepdim=*/true));
  // A row that has seen no key has m = −∞, and −∞ − (−∞) is NaN: subtracting 0 instead leaves its exponentials 0.
  const at::Tensor subtracted = maximum.masked_fill(maximum == kMinusInfinity, 0);
  const at::Tensor powers = scores.sub_(subtracted).exp_();
  const at::Tensor correction = (so_far.maximum - subtracted).exp_();
  so_far.sum.mul_(correction).add_(powers.sum(-1, /*keepdim=*/true));
  so_far.output.mul_(correction).baddbmm_(powers, value);
  so_far.maximum = maximum;
}

}  // namespace

void forward(const ForwardTensors& tensors, const Setting& setting) {
  const Sizes sizes(tensors.query, tensors.key, setting.causal);
  for (std::int64_t i = 0; i < sizes.query_length; i += kQueryRows) {
    const Rows queries = tile_from(i, kQueryRows, sizes.query_length);
    const at::Tensor query = query_tile(tensors.query, sizes, queries);
    Progress seen = nothing_seen(query);
    const std::int64_t visible_end = sizes.visible_end(queries);
    for (std::int64_t j = 0; j < visible_end; j += kKeyRows) {
      const Rows keys = tile_from(j, kKeyRows, visible_end);
      take_in(seen, score_tile(query, key_tile(tensors.key, sizes, keys), sizes, queries, keys, setting.scale),
              key_tile(tensors.value, sizes, keys));
    }
    const at::Tensor log_sum_exp = seen.maximum + seen.sum.log();                        // −∞ for rows that see no key
    const at::Tensor output = seen.output.div_(seen.sum.masked_fill(seen.sum == 0, 1));  // 0 for those rows
    const at::Tensor to = rows_of(tensors.output, queries), sums_to = rows_of(tensors.log_sum_exp, queries);
    to.copy_(output.view(to.sizes()));
    sums_to.copy_(log_sum_exp.view(sums_to.sizes()));
  }
}

}  // namespace kymo::ops::tiled
