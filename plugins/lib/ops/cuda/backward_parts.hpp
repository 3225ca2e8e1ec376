// SPDX-License-Identifier: Apache-2.0
// Split-Q: if a backward call has too few key blocks to fill the GPU, its queries are split as well. A key block
// processes `part` query tiles of each head and adds its dK and dV to those of the other blocks of the same keys, in
// arbitrary order.
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels.hpp"

namespace kymo::flash {

/// Split configuration of a kernel: keys of a block, queries of a tile, padded head size, blocks per SM, and the
/// minimum number of tiles per block.
struct QueryCut {
  int keys, rows, columns, blocks, least_tiles;
};
/// Configuration of the kernel for this padded head size and, for floats, this shared memory per block. The launch
/// checks that the kernel's tiles match.
constexpr QueryCut query_cut(bool wide, int columns, int shared_kb = kLeastSharedKb) {
  if (wide && columns <= 64) return {64, 32, columns, 2, 2};
  if (wide && shared_kb <= kLeastSharedKb) return {columns <= 128 ? 64 : 32, 16, columns, 2, 2};
  if (wide) return {64, 32, columns, columns <= 128 ? 2 : 1, 1};
  return columns <= 64 ? QueryCut{128, 128, columns, 1, 4} : QueryCut{columns <= 128 ? 128 : 64, 64, columns, 1, 4};
}

struct QueryParts {
  int64_t key_blocks;  // of all heads and batch elements
  int tiles, part;     // query tiles of a head; of a block
  int parts() const { return (tiles + part - 1) / part; }
};

/// Enough splits to fill the GPU; with a causal mask, every second one has no work. If splits are no longer than a
/// block's keys, all splits with work take equally long, and a few too many would run as a second wave.
inline QueryParts query_parts(const Problem& p, const QueryCut& cut, int multiprocessors) {
  QueryParts all{};
  all.key_blocks = key_blocks(p, cut.keys);
  all.tiles = static_cast<int>((p.seq_q + cut.rows - 1) / cut.rows);
  const int64_t room = int64_t{p.causal ? 2 : 1} * cut.blocks * multiprocessors,
                wanted = std::max<int64_t>(1, room / all.key_blocks);
  all.part =
      static_cast<int>(std::max<int64_t>(std::min(all.tiles, cut.least_tiles), (all.tiles + wanted - 1) / wanted));
  const int64_t heads = p.batch * p.heads_kv, blocks = all.key_blocks / heads,
                in_block = cut.keys / (cut.rows * all.part);
  const int64_t busy = heads * (blocks * all.parts() - in_block * blocks * (blocks - 1) / 2);
  if (p.causal && in_block > 0 && busy > cut.blocks * multiprocessors) ++all.part;
  return all;
}

/// Whether split-Q is faster. Floats: whenever it is possible. 16-bit elements: a model in microseconds, measured on an
/// H100, compares the time per query in a block, on an idle and on a full GPU, with the additional kernel and the
/// additions of dK and dV.
inline bool query_cut_pays(const Problem& p, const QueryCut& cut, int multiprocessors) {
  const QueryParts parts = query_parts(p, cut, multiprocessors);
  if (parts.parts() < 2) return false;
  if (p.element == Element::kFloat32) return p.seq_q > 64;
  const double idle = cut.columns <= 64    ? 0.0185
                      : cut.columns <= 128 ? 0.033
                                           : 0.037,
               full = cut.columns <= 128 ? idle : 0.053;
  const double kernel = 6.0, bytes_in_time = 1.1e6, added = 8.0 * cut.keys * cut.columns;
  const double group = static_cast<double>(p.heads_q / p.heads_kv), uncut = idle * group * static_cast<double>(p.seq_q);
  const double additions = added * static_cast<double>(parts.key_blocks * parts.parts()) / bytes_in_time;
  return full * group * parts.part * cut.rows + kernel + additions < uncut;
}

}  // namespace kymo::flash
