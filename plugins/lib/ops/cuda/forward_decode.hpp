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

/// Base-2 logarithm of the number of splits per head: about one block per SM, or as many as fit if the splits are long,
/// as long as at least half the warps have tiles to process. The last few SMs are not worth twice as many blocks.
inline int decode_split_bits(const Problem& p, int multiprocessors) {
  constexpr int64_t kLeastKeys = 128, kLongSplit = 2048;  // before splitting in two
  const int64_t heads = p.batch * p.heads_q, target = multiprocessors - multiprocessors / 16,
                most = target * decode_blocks_of_sm(p.d <= 64 ? 64 : 128, p.seq_q <= 8 ? 8 : 16);
  int bits = 0;
  const auto pays = [&] {
    return heads << bits < (p.seq_k >> bits >= kLongSplit ? most : target) && p.seq_k > kLeastKeys << bits;
  };
  while (bits < kDecodeSplitBits && pays()) ++bits;
  return bits;
}

/// Whether the decoding kernel is selected automatically, from measurements on an H200 with 8 to 128 heads: not if a
/// cluster of more than two blocks shares a head with long splits. Split-KV distributes such a call more evenly.
inline bool decode_is_faster(const Problem& p, int multiprocessors) {
  const int bits = decode_split_bits(p, multiprocessors);
  const int longest_split = (p.d <= 64 ? 2048 : 512) << (bits < kDecodeSplitBits);
  return bits <= 1 || p.seq_k >> bits <= longest_split;
}

/// keys: per tile.
KYMO_HOST_AND_DEVICE int decode_first_tile(int split, int split_bits, int seq_k, int keys) {
  const int tiles = (seq_k + keys - 1) / keys;
  return static_cast<int>(int64_t{tiles} * split >> split_bits);
}

}  // namespace kymo::flash
