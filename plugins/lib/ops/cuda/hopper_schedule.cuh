// SPDX-License-Identifier: Apache-2.0
// Tile scheduler of the Hopper forward kernel: which query tiles a block processes, and in what order.
//
//   full     all query tiles of a head before the next head: its K and V stay in L2
//   causal   heads in groups whose K and V fit in L2; within a group, the longest tiles of all its heads first
//
// A block starts with the tile of its own index. A producer thread determines the next one:
//
//   counter given      the next free tile. The counter is in the caller's workspace and zeroed in the stream before the
//                      kernel, so that launches on several streams and graph replays share nothing
//   otherwise          a static schedule: round by round in the order above, every second round reversed, so that
//                      longer tiles in one round are followed by shorter ones in the next
//
// With a causal mask, pipelined tiles (hopper_forward_pipelined.cuh) use another static schedule: forward_pairs.hpp.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>

#include "forward_pairs.hpp"
#include "kernels.hpp"

namespace kymo::flash {

struct QueryTile {
  int batch, head, head_kv, first_row;
};
/// A query tile and the key tiles that a block processes for it, from `first` up to `end`.
struct ForwardTask {
  QueryTile queries;
  int first, end;
  __device__ __forceinline__ bool none() const { return end < 0; }  // no tiles are left for the block
};

struct ForwardSchedule {
  int seq_q, seq_k, shift;  // shift = seq_k - seq_q: query i sees keys up to i + shift
  int heads_q, heads;       // heads of a batch element; of all batch elements
  int group;                // query heads that share a key/value head
  int row_tiles, tiles;     // query tiles of a head; of all heads
  int heads_at_once;        // causal: heads processed together
  int* counter;             // tiles taken after the first of each block; or null
  ForwardSplits splits;     // split-KV: the splits that `tiles` counts
  ForwardPairs pairs;       // pipelined, causal

  template <class Tiles>
  __device__ __forceinline__ int first_number() const {
    return Tiles::kPipelined && Tiles::kCausal ? pairs.number(0, blockIdx.x, gridDim.x) : static_cast<int>(blockIdx.x);
  }
  /// Index that follows `round`. One thread of the block calls this once per round.
  template <class Tiles>
  __device__ __forceinline__ int next_number(int round) const {
    const int block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
    if (Tiles::kPipelined && Tiles::kCausal) return pairs.number(round + 1, block, blocks);
    if (counter) return blocks + atomicAdd(counter, 1);
    return (round + 1) * blocks + (round & 1 ? block : blocks - 1 - block);
  }
  template <int kRows, bool kCausal>
  __device__ __forceinline__ QueryTile tile(int at) const {
    int row_tile, all_head;
    if constexpr (kCausal) {
      const int in_set = heads_at_once * row_tiles, set = at / in_set, rest = at - set * in_set;
      const int width = min(heads_at_once, heads - set * heads_at_once), row = rest / width;
      row_tile = row_tiles - 1 - row;
      all_head = set * heads_at_once + (rest - row * width);
    } else {
      all_head = at / row_tiles;
      row_tile = at - all_head * row_tiles;
    }
    return query_tile<kRows>(all_head, row_tile);
  }
  template <int kRows>
  __device__ __forceinline__ QueryTile query_tile(int all_head, int row_tile) const {
    const int batch = all_head / heads_q, head = all_head - batch * heads_q;
    return {batch, head, head / group, row_tile * kRows};
  }
  /// The task with this index, in the order of the tiles or, with split-KV, of the splits. Pipelined tiles have at
  /// least one key tile.
  template <class Tiles>
  __device__ __forceinline__ ForwardTask task(int number) const {
    if (number >= tiles) return {{}, 0, -1};
    if constexpr (Tiles::kSplitKv) {
      const ForwardSplit split = splits.split(number);
      return {query_tile<Tiles::kRows>(split.head, split.row_tile), split.first, split.end};
    } else if constexpr (Tiles::kPipelined) {
      const ForwardPairs::TileCoord where = Tiles::kCausal ? pairs.coord(number) : ForwardPairs::TileCoord{};
      const QueryTile queries = Tiles::kCausal ? query_tile<Tiles::kRows>(where.head, where.row_tile)
                                               : tile<Tiles::kRows, Tiles::kCausal>(number);
      return {queries, 0, max(1, key_tiles<Tiles>(queries))};
    } else {
      const QueryTile queries = tile<Tiles::kRows, Tiles::kCausal>(number);
      return {queries, 0, key_tiles<Tiles>(queries)};
    }
  }
  /// Number of key tiles that any row of the query tile sees.
  template <class Tiles>
  __device__ __forceinline__ int key_tiles(const QueryTile& tile) const {
    const int keys = Tiles::kCausal ? min(seq_k, tile.first_row + Tiles::kRows + shift) : seq_k;
    return max(0, keys + Tiles::kKeys - 1) / Tiles::kKeys;
  }
};

/// Causal: query heads whose tiles are processed together, those of as many key/value heads as fit in L2, in sets of
/// nearly equal size: a small last set would start its longest tiles at the end. (16 heads × 16384 × 64 in sets of 7, 7
/// and 2 would take 5 % longer than if the work were divided evenly, in two sets of 8 they take 0.5 %, by simulation.)
inline int heads_at_once(const Problem& p) {
  const double l2_share = 32e6, key_bytes = 4.0 * static_cast<double>(p.seq_k) * static_cast<double>(p.d);
  const int64_t heads = p.batch * p.heads_kv,
                sets = std::max<int64_t>(
                    1, std::llround(static_cast<double>(heads) / std::max(1.0, l2_share / key_bytes)));
  return static_cast<int>((heads + sets - 1) / sets * (p.heads_q / p.heads_kv));
}

inline ForwardSchedule forward_schedule(const Problem& p, int rows, int* counter) {
  ForwardSchedule s{};
  s.seq_q = static_cast<int>(p.seq_q), s.seq_k = static_cast<int>(p.seq_k), s.shift = s.seq_k - s.seq_q;
  s.heads_q = static_cast<int>(p.heads_q), s.heads = static_cast<int>(p.batch * p.heads_q),
  s.group = static_cast<int>(p.heads_q / p.heads_kv);
  s.row_tiles = (s.seq_q + rows - 1) / rows, s.tiles = s.row_tiles * s.heads;
  s.heads_at_once = heads_at_once(p);
  s.counter = counter;
  return s;
}

/// One block per SM, except for long causal tiles, which get one block per tile, scheduled by the hardware: with a
/// static schedule, the last block would end 10 to 20 % late (by simulation), and a counter measured 1 to 7 % slower.
inline int forward_blocks(const ForwardSchedule& s, bool causal, int multiprocessors) {
  const bool one_each = !s.counter && causal && s.seq_k > 4096;
  return one_each || s.tiles < multiprocessors ? s.tiles : multiprocessors;
}

}  // namespace kymo::flash
