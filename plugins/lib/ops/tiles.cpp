// SPDX-License-Identifier: Apache-2.0
#include "ops/tiles.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>

namespace kymo::ops::tiled {

Sizes::Sizes(const at::Tensor& query, const at::Tensor& key, bool is_causal)
    : batch(query.size(0)),
      key_heads(key.size(1)),
      group(query.size(1) / key.size(1)),
      query_length(query.size(2)),
      key_length(key.size(2)),
      width(query.size(3)),
      offset(causal_offset(query_length, key_length)),
      causal(is_causal) {}

at::Tensor query_tile(const at::Tensor& tensor, const Sizes& sizes, const Rows& rows) {
  return tensor.narrow(2, rows.begin, rows.count)
      .to(accumulator_of(tensor.scalar_type()))
      .reshape({sizes.batch * sizes.key_heads, sizes.group * rows.count, sizes.width});
}

at::Tensor row_tile(const at::Tensor& tensor, const Sizes& sizes, const Rows& rows) {
  return tensor.narrow(2, rows.begin, rows.count).reshape({sizes.batch * sizes.key_heads, sizes.group * rows.count, 1});
}

at::Tensor key_tile(const at::Tensor& tensor, const Sizes& sizes, const Rows& rows) {
  return tensor.narrow(2, rows.begin, rows.count)
      .to(accumulator_of(tensor.scalar_type()))
      .reshape({sizes.batch * sizes.key_heads, rows.count, sizes.width});
}

at::Tensor rows_of(const at::Tensor& whole, const Rows& rows) { return whole.narrow(2, rows.begin, rows.count); }

at::Tensor score_tile(const at::Tensor& query, const at::Tensor& key, const Sizes& sizes, const Rows& queries,
                      const Rows& keys, double scale) {
  at::Tensor scores = at::bmm(query, key.transpose(1, 2)).mul_(scale);
  // Only tiles on the diagonal are partially masked. Tiles above it are never computed, and tiles below it need no
  // mask.
  if (!sizes.causal || keys.end() - 1 <= queries.begin + sizes.offset) return scores;
  const auto positions = scores.options().dtype(at::kLong);
  const at::Tensor last_seen =
      at::arange(queries.begin + sizes.offset, queries.end() + sizes.offset, positions).unsqueeze(1);
  const at::Tensor hidden = at::arange(keys.begin, keys.end(), positions).gt(last_seen);
  scores.view({-1, sizes.group, queries.count, keys.count}).masked_fill_(hidden, kMinusInfinity);
  return scores;
}

}  // namespace kymo::ops::tiled
