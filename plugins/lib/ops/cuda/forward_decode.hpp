// SPDX-License-Identifier: Apache-2.0
// How the decoding kernel (hopper_decode.cuh) splits the keys of a head: with n = 2^bits splits, in the n blocks of a
// thread block cluster, warp j of block i processes the key tiles w i + j, w (i + n) + j, ..., where w is the number of
// warps of a block.
#pragma once
#include <cstdint>

#include "forward_splits.hpp"

namespace kymo::flash {

constexpr int kDecodeRows = 16;      // maximum query rows per head
constexpr int kDecodeStages = 3;     // tiles of K or V that a warp holds
constexpr int kDecodeSplitBits = 4;  // Hopper supports clusters of up to 16 blocks
/// Warps of a block; each processes tiles of its own.
constexpr int kNarrowDecode = 4, kWideDecode = 8;

/// Keys per tile for this padded head size: 8 KB of K or V.
KYMO_HOST_AND_DEVICE constexpr int decode_keys(int columns) { return 4096 / columns; }

/// Blocks per SM that registers and shared memory permit.
KYMO_HOST_AND_DEVICE constexpr int decode_blocks_of_sm(int columns, int rows, int warps) {
  return warps == kNarrowDecode && columns * rows <= 1024 ? 2 : 1;
}

struct DecodePlan {
  int warps;       // of a block
  int split_bits;  // 2^split_bits splits per head
  bool overlap;    // blocks of the next kernel may start before this one ends
  bool operator==(const DecodePlan&) const = default;
};

/// Whether blocks of the next kernel may start early, which saves 1 us. If that kernel is another call of decoding with
/// no more blocks than SMs, its early blocks run on the SMs that happen to be free and are unevenly distributed,
/// which costs a long call more than it saves. bytes: of K and V.
inline bool decode_overlaps(int64_t blocks, const DecodePlan& plan, int64_t bytes, int multiprocessors) {
  if (blocks > multiprocessors) return true;
  if (plan.warps == kWideDecode) return bytes < 200'000'000;
  if (blocks > multiprocessors / 2) return false;
  const int64_t most = plan.split_bits == 2 || plan.split_bits == 4 ? 32'000'000 : 100'000'000;
  return blocks <= multiprocessors * 15 / 32 || bytes < most;
}

/// Waves of blocks, of which the GPU holds `at_once`, in proportion to full ones.
inline double decode_waves(int64_t blocks, int64_t at_once) {
  return static_cast<double>((blocks + at_once - 1) / at_once * at_once) / static_cast<double>(blocks);
}

/// From measurements on H200s with 1 to 512 heads (docs/kernels/attention_forward.md). Short calls take up to one block
/// for half of the SMs. Long ones take more, where clusters of that size are distributed evenly. Wide blocks keep twice
/// as many bytes in flight where an SM has only one.
inline DecodePlan decode_plan(const Problem& p, int multiprocessors) {
  constexpr int64_t kLeastKeys = 128, kLongKeys = 2048;  // before splitting in two
  const int64_t heads = p.batch * p.heads_q, bytes = 4 * heads * p.seq_k * p.d, sms = multiprocessors,
                places = sms * decode_blocks_of_sm(p.d <= 64 ? 64 : 128, p.seq_q <= 8 ? 8 : 16, kNarrowDecode);
  DecodePlan plan{kNarrowDecode, 0, false};
  if (heads > sms) {
    if (heads < places - places / 16 && p.seq_k >= kLongKeys) plan.split_bits = 1;
    const int64_t blocks = heads << plan.split_bits;
    if ((plan.split_bits == 0 || p.seq_k >= 4 * kLongKeys) &&
        decode_waves(blocks, sms) < 0.95 * decode_waves(blocks, places))
      plan.warps = kWideDecode;
  } else if (heads > sms / 2) {
    if (bytes < 100'000'000 || heads >= sms - sms / 8) plan.warps = kWideDecode;
  } else if (heads > sms / 4 && bytes >= 40'000'000) {
    plan.split_bits = 1;
    if (2 * heads >= sms - sms / 16) plan.warps = kWideDecode;
  } else if (heads > 2 && heads << 3 <= sms * 3 / 8 && bytes >= 20'000'000) {
    plan.warps = kWideDecode, plan.split_bits = 3;
  } else {
    int& bits = plan.split_bits;
    while (bits < kDecodeSplitBits && heads << (bits + 1) <= sms / 2 && p.seq_k > kLeastKeys << bits) ++bits;
    const int64_t few = bits == 1 ? sms * 3 / 8 : bits == 2 ? sms * 5 / 16 : 0;
    if (heads << bits <= few && bytes >= 50'000'000) ++bits;
  }
  plan.overlap = decode_overlaps(heads << plan.split_bits, plan, bytes, multiprocessors);
  return plan;
}

}  // namespace kymo::flash
