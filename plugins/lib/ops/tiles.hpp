// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <limits>

#include "ops/problem.hpp"

/// How the tiled implementation partitions tensors into tiles.
namespace kymo::ops::tiled {

/// Queries and keys of a tile. A tile of scores has kQueryRows × kKeyRows elements per head, independent of the
/// sequence length. Larger tiles give fewer and larger matrix multiplications, which are more efficient as tensor
/// operations; a CUDA kernel would be limited by its shared memory.
inline constexpr std::int64_t kQueryRows = 128;
inline constexpr std::int64_t kKeyRows = 256;

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// Rows [begin, begin + count) of a sequence.
struct Rows {
  std::int64_t begin = 0, count = 0;
  std::int64_t end() const { return begin + count; }
};

inline Rows tile_from(std::int64_t begin, std::int64_t rows, std::int64_t length) {
  return {begin, std::min(rows, length - begin)};
}

/// Named sizes of a call.
struct Sizes {
  std::int64_t batch, key_heads, group, query_length, key_length, width;
  std::int64_t offset;  ///< with a causal mask, query i sees key j if j <= i + offset
  bool causal;

  Sizes(const at::Tensor& query, const at::Tensor& key, bool is_causal);

  /// One past the last key that any of these queries sees; 0 if they see none.
  std::int64_t visible_end(const Rows& queries) const {
    return causal ? std::clamp<std::int64_t>(queries.end() + offset, 0, key_length) : key_length;
  }
  /// The first query that sees any of these keys; query_length if none does.
  std::int64_t first_that_sees(const Rows& keys) const {
    return causal ? std::clamp<std::int64_t>(keys.begin - offset, 0, query_length) : 0;
  }
};

/// Rows of a tensor [batch, query heads, length, d] as [batch · key heads, group · rows, d] in the accumulator type.
/// The query heads that share a key head are stacked along the rows: one matrix multiplication serves the whole group,
/// and sums over rows are sums over the group.
at::Tensor query_tile(const at::Tensor& tensor, const Sizes& sizes, const Rows& rows);
/// The same layout for one value per row: [batch, query heads, length] as [batch · key heads, group · rows, 1].
at::Tensor row_tile(const at::Tensor& tensor, const Sizes& sizes, const Rows& rows);
/// Rows of a tensor [batch, key heads, length, d] as [batch · key heads, rows, d].
at::Tensor key_tile(const at::Tensor& tensor, const Sizes& sizes, const Rows& rows);

/// Writable view of the rows of `whole` [batch, query heads, length, …], shaped like the results of a tile.
at::Tensor rows_of(const at::Tensor& whole, const Rows& rows);

/// scale · Q·Kᵀ of one tile, −∞ where a query does not see a key: [batch · key heads, group · queries, keys].
at::Tensor score_tile(const at::Tensor& query, const at::Tensor& key, const Sizes& sizes, const Rows& queries,
                      const Rows& keys, double scale);

}  // namespace kymo::ops::tiled
