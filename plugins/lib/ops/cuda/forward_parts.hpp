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

struct ForwardPart {
  int head, row_tile;  // head: over all batch elements
  int first, end;      // key tiles
};

struct ForwardParts {
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
    const int sight = ((row_tile + 1) << row_shift) + shift, seen = sight < seq_k ? sight : seq_k;
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
  KYMO_HOST_AND_DEVICE ForwardPart part(int number) const {
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
inline ForwardParts uncut_forward(const Problem& p, int rows, int keys) {
  ForwardParts parts{};
  parts.heads = static_cast<int>(p.batch * p.heads_q), parts.keys = keys;
  while (parts.rows() < rows) ++parts.row_shift;
  parts.seq_k = static_cast<int>(p.seq_k), parts.shift = static_cast<int>(p.seq_k - p.seq_q), parts.causal = p.causal;
  parts.row_tiles = static_cast<int>((p.seq_q + rows - 1) / rows);
  parts.key_tiles = static_cast<int>((p.seq_k + keys - 1) / keys);
  parts.chunk = parts.key_tiles, parts.chunks = 1;
  return parts;
}

/// The smallest chunk with at most `most` splits.
inline ForwardParts cut_forward(ForwardParts parts, int most) {
  const auto cut = [&](int chunk) {
    parts.chunk = chunk, parts.chunks = (parts.key_tiles + chunk - 1) / chunk;
    return parts.count();
  };
  int low = std::max(1, parts.key_tiles / std::max(most, 1)), high = parts.key_tiles;
  while (low < high) {
    const int middle = (low + high) / 2;
    cut(middle) <= most ? high = middle : low = middle + 1;
  }
  cut(low);
  return parts;
}

/// Time of `count` equal blocks, in units of one block alone on an SM. Two blocks on one SM take `together`, which is 2
/// if an SM holds only one.
inline double block_rounds(int count, int multiprocessors, double together) {
  const int full = count / (2 * multiprocessors), rest = count % (2 * multiprocessors);
  return full * together + (rest == 0 ? 0.0 : rest <= multiprocessors ? 1.0 : together);
}

/// Estimated time of a call in microseconds, from measurements with one head on an H100: a step over a key tile, the
/// prologue and epilogue of a block, the launch of the second kernel and its reading of the partials. An SM holds two
/// blocks of the float kernels.
inline double forward_time(const ForwardParts& parts, const Problem& p, int multiprocessors) {
  const bool wide = p.element == Element::kFloat32;
  const double d = static_cast<double>(p.d), bytes_in_time = 1.5e6, together = !wide ? 2.0 : p.d <= 128 ? 1.6 : 1.4;
  const double step = wide ? (p.d > 128 ? 0.26 : 0.095) * parts.keys : 0.9 + 0.003 * d,
               ends = wide ? 6.0 : 4.0 + 0.006 * d;
  const int count = parts.count();
  if (parts.chunks > 1) {
    const double bytes = static_cast<double>(count) * parts.rows() * d * 4;
    return block_rounds(count, multiprocessors, together) * (parts.chunk * step + ends) + 3.0 + bytes / bytes_in_time;
  }
  // Without split-KV, causal tiles of unequal length are balanced: the time is that of the longest tile, sharing its SM
  // part of the time, or half of the total.
  const double longest = wide && count > multiprocessors ? 0.5 * (1 + together) : 1.0,
               half = 0.25 * together * count / multiprocessors;
  return (parts.causal ? std::max(longest, half) : block_rounds(count, multiprocessors, together)) * parts.key_tiles *
             step +
         ends;
}

/// Queries and keys of a tile of the split-KV kernel for this padded head size; the launch checks that the kernel's
/// tiles match.
struct KeyCut {
  int rows, keys;
  bool operator==(const KeyCut&) const = default;
};
constexpr KeyCut key_cut(bool wide, int columns) {
  if (wide) return columns <= 64 ? KeyCut{128, 48} : KeyCut{64, columns <= 128 ? 64 : 16};
  return {128, columns <= 128 ? 128 : columns <= 192 ? 112 : 80};
}

/// The fastest split; chunks is 1 if splitting the keys gains less than 10 %, unless the kernel was requested by index.
inline ForwardParts forward_parts(const Forward& call, int rows, int keys, int multiprocessors) {
  const Problem& p = call.problem;
  const ForwardParts uncut = uncut_forward(p, rows, keys);
  if (uncut.count() >= 2 * multiprocessors) return uncut;
  ForwardParts best = uncut;
  double least = call.variant < 0 ? 0.9 * forward_time(uncut, p, multiprocessors) : 1e300;
  for (int rounds = 1; rounds <= 4; ++rounds) {
    const ForwardParts cut = cut_forward(uncut, rounds * multiprocessors);
    if (const double time = forward_time(cut, p, multiprocessors); time < least) best = cut, least = time;
  }
  return best;
}

/// Sizes of the partials in the workspace, in floats: outputs (splits, rows, columns), then maxima and sums (splits,
/// rows, 2).
struct ForwardSpace {
  int64_t outputs, sums;
  size_t bytes() const { return static_cast<size_t>(outputs + sums) * 4; }
};
inline ForwardSpace forward_space(const ForwardParts& parts, int columns) {
  const int64_t all_rows = int64_t{parts.count()} * parts.rows();
  return {all_rows * columns, 2 * all_rows};
}

}  // namespace kymo::flash
