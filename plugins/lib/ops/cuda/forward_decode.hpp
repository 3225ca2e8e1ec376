// SPDX-License-Identifier: Apache-2.0
// How the decoding kernel (hopper_decode.cuh) splits the keys of a head: split i of 2^bits runs in block i of a thread
// block cluster and processes the key tiles from decode_first_tile(i) up to decode_first_tile(i + 1).
#pragma once
#include <cstdint>

#include "forward_splits.hpp"

namespace kymo::flash {

constexpr int kDecodeRows = 16;      // maximum query rows per head
constexpr int kDecodeKeys = 16;      // per tile
constexpr int kDecodeWarps = 4;      // of a block; each processes tiles of its own
constexpr int kDecodeSplitBits = 4;  // Hopper supports clusters of up to 16 blocks

/// Base-2 logarithm of the number of splits per head: about one block per SM, as long as each warp has tiles to
/// process. The last few SMs are not worth twice as many blocks.
inline int decode_split_bits(const Problem& p, int multiprocessors) {
  const int64_t heads = p.batch * p.heads_q, target = multiprocessors - multiprocessors / 16,
                least_keys = 2 * kDecodeKeys * kDecodeWarps;
  int bits = 0;
  while (bits < kDecodeSplitBits && heads << bits < target && p.seq_k > least_keys << bits) ++bits;
  return bits;
}

/// Whether the decoding kernel is selected automatically. The splits of very few heads leave most of the GPU idle,
/// which matters if they are long: split-KV distributes such a call over all SMs.
inline bool decode_is_faster(const Problem& p, int multiprocessors) {
  constexpr int64_t kShortSplit = 2048;  // keys
  return p.batch * p.heads_q << kDecodeSplitBits >= multiprocessors / 2 || p.seq_k <= kShortSplit << kDecodeSplitBits;
}

KYMO_HOST_AND_DEVICE int decode_first_tile(int split, int split_bits, int seq_k) {
  const int tiles = (seq_k + kDecodeKeys - 1) / kDecodeKeys;
  return static_cast<int>(int64_t{tiles} * split >> split_bits);
}

}  // namespace kymo::flash
