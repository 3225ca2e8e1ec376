// SPDX-License-Identifier: Apache-2.0
// Split-KV, as in Flash-Decoding (Dao et al. 2023): if a forward call has too few query tiles to fill the GPU, its keys
// are split as well. A split is one query tile with at most `chunk` of its visible key tiles and runs in one block. It
// writes its outputs, maxima and sums to the workspace as partials, which a second kernel reduces
// (forward_combine.cuh).
//
//   causal, 4 query tiles, chunk 2              keys ->  0 1 2 3
//   numbers of the splits of one head:      queries 3   [0 0][4 4]
//                                                   2   [1 1][5]
//                                                   1   [2 2]
//                                                   0   [3]
//
// Splits are numbered chunk by chunk, then by head, then from the last query tile to the first, so that long ones come
// first.
#pragma once
#include <algorithm>

#include "flash.hpp"

#ifdef __CUDACC__
#define KYMO_HOST_AND_DEVICE __host__ __device__ __forceinline__
#else
#define KYMO_HOST_AND_DEVICE inline
#endif

namespace kymo::flash {

struct ForwardSplit {
  int head, row_tile;  // head: over all batch elements
  int first, end;      // key tiles
};

struct ForwardSplits {
  int heads, row_tiles, key_tiles;
  int row_shift;     // a query tile has 2^row_shift rows
  int keys;          // of a tile
  int seq_k, shift;  // as in ForwardSchedule
  bool causal;
  int chunk, chunks;  // maximum key tiles per split, maximum splits per query tile

  KYMO_HOST_AND_DEVICE int rows() const { return 1 << row_shift; }
  /// Number of key tiles that any row of the query tile sees.
  KYMO_HOST_AND_DEVICE int seen(int row_tile) const {
    if (!causal) return key_tiles;
    const int visible = ((row_tile + 1) << row_shift) + shift, seen = visible < seq_k ? visible : seq_k;
    return seen > 0 ? (seen + keys - 1) / keys : 0;
  }
  /// First query tile that sees keys of this chunk; all later ones do too. Every query tile has a chunk 0, because its
  /// rows must be written.
  KYMO_HOST_AND_DEVICE int first_row_tile(int chunk_number) const {
    const int before = chunk_number * chunk * keys - shift;
    if (!causal || chunk_number == 0 || before <= 0) return 0;
    return before >> row_shift < row_tiles ? before >> row_shift : row_tiles;
  }
  KYMO_HOST_AND_DEVICE int of_chunk(int chunk_number) const {
    return heads * (row_tiles - first_row_tile(chunk_number));
  }
  KYMO_HOST_AND_DEVICE int count() const {
    int sum = 0;
    for (int c = 0; c < chunks; ++c) sum += of_chunk(c);
    return sum;
  }
  KYMO_HOST_AND_DEVICE ForwardSplit split(int number) const {
    int c = 0;
    for (int of_this = of_chunk(0); number >= of_this; of_this = of_chunk(++c)) number -= of_this;
    const int width = row_tiles - first_row_tile(c), head = number / width,
              row_tile = row_tiles - 1 - (number - head * width);
    const int all = seen(row_tile), end = (c + 1) * chunk;
    return {head, row_tile, c * chunk, end < all ? end : all};
  }
  /// Index within its chunk, starting at 0.
  KYMO_HOST_AND_DEVICE int number_in_chunk(int chunk_number, int head, int row_tile) const {
    return head * (row_tiles - first_row_tile(chunk_number)) + row_tiles - 1 - row_tile;
  }
};

/// Without split-KV: one split per query tile.
inline ForwardSplits unsplit_forward(const Problem& p, int rows, int keys) {
  ForwardSplits splits{};
  splits.heads = static_cast<int>(p.batch * p.heads_q), splits.keys = keys;
  while (splits.rows() < rows) ++splits.row_shift;
  splits.seq_k = static_cast<int>(p.seq_k), splits.shift = static_cast<int>(p.seq_k - p.seq_q),
  splits.causal = p.causal;
  splits.row_tiles = static_cast<int>((p.seq_q + rows - 1) / rows);
  splits.key_tiles = static_cast<int>((p.seq_k + keys - 1) / keys);
  splits.chunk = splits.key_tiles, splits.chunks = 1;
  return splits;
}

/// The smallest chunk with at most `most` splits.
inline ForwardSplits split_forward(ForwardSplits splits, int most) {
  const auto split_into = [&](int chunk) {
    splits.chunk = chunk, splits.chunks = (splits.key_tiles + chunk - 1) / chunk;
    return splits.count();
  };
  int low = std::max(1, splits.key_tiles / std::max(most, 1)), high = splits.key_tiles;
  while (low < high) {
    const int middle = (low + high) / 2;
    split_into(middle) <= most ? high = middle : low = middle + 1;
  }
  split_into(low);
  return splits;
}

/// Time of `count` equal blocks, in units of one block alone on an SM. Two blocks on one SM take `concurrent_time`,
/// which is 2 if an SM holds only one.
inline double block_rounds(int count, int multiprocessors, double concurrent_time) {
  const int full = count / (2 * multiprocessors), rest = count % (2 * multiprocessors);
  return full * concurrent_time + (rest == 0 ? 0.0 : rest <= multiprocessors ? 1.0 : concurrent_time);
}

/// Estimated time of a call in microseconds, from measurements with one head on an H100: a step over a key tile, the
/// prologue and epilogue of a block, the launch of the second kernel and its reading of the partials. An SM holds two
/// blocks of the float kernels.
inline double forward_time(const ForwardSplits& splits, const Problem& p, int multiprocessors) {
  const bool wide = p.element == Element::kFloat32;
  const double d = static_cast<double>(p.d), bytes_in_time = 1.5e6,
               concurrent_time = !wide        ? 2.0
                                 : p.d <= 128 ? 1.6
                                              : 1.4;
  const double step = wide ? (p.d > 128 ? 0.26 : 0.095) * splits.keys : 0.9 + 0.003 * d,
               ends = wide ? 6.0 : 4.0 + 0.006 * d;
  const int count = splits.count();
  if (splits.chunks > 1) {
    const double bytes = static_cast<double>(count) * splits.rows() * d * 4;
    return block_rounds(count, multiprocessors, concurrent_time) * (splits.chunk * step + ends) + 3.0 +
           bytes / bytes_in_time;
  }
  // Without split-KV, causal tiles of unequal length are balanced: the time is that of the longest tile, sharing its SM
  // part of the time, or half of the total.
  const double longest = wide && count > multiprocessors ? 0.5 * (1 + concurrent_time) : 1.0,
               half = 0.25 * concurrent_time * count / multiprocessors;
  return (splits.causal ? std::max(longest, half) : block_rounds(count, multiprocessors, concurrent_time)) *
             splits.key_tiles * step +
         ends;
}

/// Queries and keys of a tile of the split-KV kernel for this padded head size; the launch checks that the kernel's
/// tiles match.
struct SplitKvTile {
  int rows, keys;
  bool operator==(const SplitKvTile&) const = default;
};
constexpr SplitKvTile split_kv_tile(bool wide, int columns) {
  if (wide) return columns <= 64 ? SplitKvTile{128, 48} : SplitKvTile{64, columns <= 128 ? 64 : 16};
  return {128, columns <= 128 ? 128 : columns <= 192 ? 112 : 80};
}

/// The fastest split; chunks is 1 if splitting the keys gains less than 10 %, unless the kernel was requested by index.
inline ForwardSplits forward_splits(const Forward& call, int rows, int keys, int multiprocessors) {
  const Problem& p = call.problem;
  const ForwardSplits unsplit = unsplit_forward(p, rows, keys);
  if (unsplit.count() >= 2 * multiprocessors) return unsplit;
  ForwardSplits best = unsplit;
  double least = call.variant < 0 ? 0.9 * forward_time(unsplit, p, multiprocessors) : 1e300;
  for (int rounds = 1; rounds <= 4; ++rounds) {
    const ForwardSplits candidate = split_forward(unsplit, rounds * multiprocessors);
    if (const double time = forward_time(candidate, p, multiprocessors); time < least) best = candidate, least = time;
  }
  return best;
}

/// Sizes of the partials in the workspace, in floats: outputs (splits, rows, columns), then maxima and sums (splits,
/// rows, 2).
struct ForwardSpace {
  int64_t outputs, sums;
  size_t bytes() const { return static_cast<size_t>(outputs + sums) * 4; }
};
inline ForwardSpace forward_space(const ForwardSplits& splits, int columns) {
  const int64_t all_rows = int64_t{splits.count()} * splits.rows();
  return {all_rows * columns, 2 * all_rows};
}

}  // namespace kymo::flash
