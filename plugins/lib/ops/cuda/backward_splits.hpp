// SPDX-License-Identifier: Apache-2.0
// Split-Q: if a backward call has too few key blocks to fill the GPU, its queries are split as well. A key block
// processes `split_tiles` query tiles of each head and adds its dK and dV to those of the other blocks of the same
// keys, in arbitrary order. Likewise, a long causal call whose key/value heads have many query heads is split by these:
// blocks of one or two query heads are shorter and share their data in L2.
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels.hpp"

namespace kymo::flash {

/// Split configuration of a kernel: keys of a block, queries of a tile, padded head size, blocks per SM, the minimum
/// number of tiles per block, and the query heads of a block if heads are split and their number is a multiple of it.
struct SplitQTile {
  int keys, rows, columns, blocks, min_tiles, heads = 1;
};
/// Configuration of the kernel for this padded head size and, for floats, this shared memory per block; lockstep: of
/// the kernel with tiles of kLockstepRows queries. The launch checks that the kernel's tiles match.
constexpr SplitQTile split_q_tile(bool wide, int columns, int shared_kb = kMinSharedKb, bool lockstep = false) {
  if (lockstep) return {128, kLockstepRows, columns, 1, 4, 2};
  if (wide && columns <= 64) return {64, 32, columns, 2, 2};
  if (wide && shared_kb <= kMinSharedKb) return {columns <= 128 ? 64 : 32, 16, columns, 2, 2};
  if (wide) return {64, 32, columns, columns <= 128 ? 2 : 1, 1};
  return columns <= 64 ? SplitQTile{128, 128, columns, 1, 4} : SplitQTile{columns <= 128 ? 128 : 64, 64, columns, 1, 4};
}

struct QuerySplits {
  int64_t key_blocks;      // of all heads and batch elements
  int tiles, split_tiles;  // query tiles of a head; of a block
  int head_splits;         // blocks that share the query heads of a key/value head
  int count() const { return (tiles + split_tiles - 1) / split_tiles; }
};

/// Whether a call is split by query heads. Measured on an H100 with 2 to 8 query heads per key/value head: with fewer
/// heads or keys, the additions of dK and dV take longer than the better order of the blocks saves.
inline bool splits_heads(const Problem& p, const SplitQTile& tile) {
  return p.element != Element::kFloat32 && tile.columns <= 128 && p.causal && p.heads_q > 4 * p.heads_kv &&
         std::min(p.seq_q, p.seq_k) >= (tile.columns <= 64 ? 8192 : 4096);
}

/// Enough splits to fill the GPU; with a causal mask, every second one has no work. If splits are no longer than a
/// block's keys, all splits with work take equally long, and a few too many would run as a second wave.
inline QuerySplits query_splits(const Problem& p, const SplitQTile& tile, int multiprocessors) {
  QuerySplits all{};
  all.key_blocks = key_blocks(p, tile.keys);
  all.tiles = all.split_tiles = static_cast<int>((p.seq_q + tile.rows - 1) / tile.rows);
  const int group = static_cast<int>(p.heads_q / p.heads_kv);
  all.head_splits = !splits_heads(p, tile) ? 1 : group % tile.heads == 0 ? group / tile.heads : group;
  if (all.head_splits > 1) return all;
  const int64_t max_blocks = int64_t{p.causal ? 2 : 1} * tile.blocks * multiprocessors,
                splits = std::max<int64_t>(1, max_blocks / all.key_blocks);
  all.split_tiles =
      static_cast<int>(std::max<int64_t>(std::min(all.tiles, tile.min_tiles), (all.tiles + splits - 1) / splits));
  const int64_t heads = p.batch * p.heads_kv, blocks = all.key_blocks / heads,
                in_block = tile.keys / (tile.rows * all.split_tiles);
  const int64_t busy = heads * (blocks * all.count() - in_block * blocks * (blocks - 1) / 2);
  if (p.causal && in_block > 0 && busy > tile.blocks * multiprocessors) ++all.split_tiles;
  return all;
}

/// Whether split-Q is faster. Floats: whenever it is possible. 16-bit elements: a model in microseconds, measured on an
/// H100, compares the time per query in a block, on an idle and on a full GPU, with the additional kernel and the
/// additions of dK and dV.
inline bool split_q_is_faster(const Problem& p, const SplitQTile& tile, int multiprocessors) {
  const QuerySplits splits = query_splits(p, tile, multiprocessors);
  if (splits.head_splits > 1) return true;
  if (splits.count() < 2) return false;
  if (p.element == Element::kFloat32) return p.seq_q > 64;
  const double idle = tile.columns <= 64    ? 0.0185
                      : tile.columns <= 128 ? 0.033
                                            : 0.037,
               full = tile.columns <= 128 ? idle : 0.053;
  const double kernel = 6.0, bytes_in_time = 1.1e6, added = 8.0 * tile.keys * tile.columns;
  const double group = static_cast<double>(p.heads_q / p.heads_kv),
               unsplit = idle * group * static_cast<double>(p.seq_q);
  const double additions = added * static_cast<double>(splits.key_blocks * splits.count()) / bytes_in_time;
  return full * group * splits.split_tiles * tile.rows + kernel + additions < unsplit;
}

}  // namespace kymo::flash
