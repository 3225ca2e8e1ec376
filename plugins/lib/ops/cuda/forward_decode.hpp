// SPDX-License-Identifier: Apache-2.0
// How the decoding kernel (hopper_decode.cuh) splits the keys of a head: split i of 2^bits runs in block i of a thread
// block cluster and processes the key tiles from decode_first_tile(i) up to decode_first_tile(i + 1).
#pragma once
#include <cstdint>

#include "forward_splits.hpp"

namespace kymo::flash {

constexpr int kDecodeRows = 16;      // maximum query rows per head
constexpr int kDecodeWarps = 4;      // of a block; each processes tiles of its own
constexpr int kDecodeStages = 3;     // tiles of K or V that a warp holds
constexpr int kDecodeSplitBits = 4;  // Hopper supports clusters of up to 16 blocks

/// Keys per tile for this padded head size: 8 KB of K or V.
KYMO_HOST_AND_DEVICE constexpr int decode_keys(int columns) { return 4096 / columns; }

/// Blocks per SM that the registers permit.
KYMO_HOST_AND_DEVICE constexpr int decode_blocks_of_sm(int columns, int rows) { return columns * rows <= 1024 ? 2 : 1; }

/// Blocks that count as one per SM: the last few SMs are not worth twice as many blocks.
inline int64_t decode_one_each(int multiprocessors) { return multiprocessors - multiprocessors / 16; }

/// Base-2 logarithm of the number of splits per head: at least one block for half of the SMs, or as many as fit if the
/// splits are long, as long as at least half the warps have tiles to process.
inline int decode_split_bits(const Problem& p, int multiprocessors) {
  constexpr int64_t kLeastKeys = 128, kLongSplit = 2048;  // before splitting in two
  const int64_t heads = p.batch * p.heads_q, one_each = decode_one_each(multiprocessors),
                most = one_each * decode_blocks_of_sm(p.d <= 64 ? 64 : 128, p.seq_q <= 8 ? 8 : 16);
  int bits = 0;
  const auto pays = [&] {
    return heads << bits < (p.seq_k >> bits >= kLongSplit ? most : one_each / 2) && p.seq_k > kLeastKeys << bits;
  };
  while (bits < kDecodeSplitBits && pays()) ++bits;
  // Of about one block per SM, in clusters of four and more, some share an SM, and take longer than half as many.
  const bool is_uneven = bits > 1 && heads << bits >= one_each && heads << bits <= multiprocessors;
  return is_uneven ? bits - 1 : bits;
}

/// Whether the decoding kernel is selected automatically, from measurements on an H200 with 8 to 256 heads. Split-KV
/// distributes long heads more evenly if clusters of more than two blocks fill the GPU.
inline bool decode_is_faster(const Problem& p, int multiprocessors) {
  const int bits = decode_split_bits(p, multiprocessors);
  return bits <= 1 || p.batch * p.heads_q << bits < decode_one_each(multiprocessors) ||
         p.seq_k <= (p.d <= 64 ? 32768 : 8192);
}

/// keys: per tile.
KYMO_HOST_AND_DEVICE int decode_first_tile(int split, int split_bits, int seq_k, int keys) {
  const int tiles = (seq_k + keys - 1) / keys;
  return static_cast<int>(int64_t{tiles} * split >> split_bits);
}

}  // namespace kymo::flash
