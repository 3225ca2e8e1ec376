// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/forward_decode.hpp"

#include <gmock/gmock.h>

namespace kymo::flash {
namespace {

constexpr int kMultiprocessors = 132;

Problem decoding(int64_t heads, int64_t seq_k) {
  Problem p;
  p.batch = 1, p.heads_q = p.heads_kv = heads, p.seq_q = 4, p.seq_k = seq_k, p.d = 128;
  return p;
}
DecodePlan plan(int64_t heads, int64_t seq_k) { return decode_plan(decoding(heads, seq_k), kMultiprocessors); }
int splits(int64_t heads, int64_t seq_k) { return 1 << plan(heads, seq_k).split_bits; }
int warps(int64_t heads, int64_t seq_k) { return plan(heads, seq_k).warps; }
bool overlaps(int64_t heads, int64_t seq_k) { return plan(heads, seq_k).overlap; }

TEST(DecodePlans, TakeHalfOfTheGpu) {
  EXPECT_EQ(splits(1, 2048), 16);
  EXPECT_EQ(splits(8, 2048), 8);
  EXPECT_EQ(splits(9, 2048), 4);
  EXPECT_EQ(splits(16, 32768), 4);
  EXPECT_EQ(splits(17, 2048), 2);
  EXPECT_EQ(splits(28, 32768), 2);
  EXPECT_EQ(splits(33, 32768), 2);
  EXPECT_EQ(splits(34, 1024), 1);
  EXPECT_EQ(splits(66, 1024), 1);
}

TEST(DecodePlans, TakeMoreIfCallsAreLong) {
  EXPECT_EQ(splits(9, 16384), 8);
  EXPECT_EQ(splits(12, 16384), 4);
  EXPECT_EQ(splits(24, 8192), 4);
  EXPECT_EQ(splits(34, 4096), 2);
  EXPECT_EQ(splits(66, 4096), 2);
  EXPECT_EQ(splits(67, 4096), 1);
  EXPECT_EQ(splits(133, 2047), 1);
  EXPECT_EQ(splits(133, 2048), 2);
  EXPECT_EQ(splits(247, 1 << 17), 2);
  EXPECT_EQ(splits(248, 1 << 17), 1);  // the last SMs are not worth twice as many blocks
}

TEST(DecodePlans, HaveWideBlocksForOnePerMultiprocessor) {
  EXPECT_EQ(warps(2, 1 << 17), kNarrowDecode);
  EXPECT_EQ(warps(4, 8192), kNarrowDecode);
  EXPECT_EQ(plan(4, 16384), (DecodePlan{kWideDecode, 3, true}));  // not 16 narrow splits, in clusters of 16
  EXPECT_EQ(plan(6, 16384), (DecodePlan{kWideDecode, 3, true}));
  EXPECT_EQ(warps(64, 1024), kNarrowDecode);
  EXPECT_EQ(warps(48, 4096), kNarrowDecode);
  EXPECT_EQ(warps(64, 4096), kWideDecode);
  EXPECT_EQ(warps(80, 1024), kWideDecode);
  EXPECT_EQ(warps(80, 4096), kNarrowDecode);
  EXPECT_EQ(warps(128, 1024), kWideDecode);
  EXPECT_EQ(warps(128, 32768), kWideDecode);
  EXPECT_EQ(warps(160, 4096), kNarrowDecode);
  EXPECT_EQ(plan(160, 8192), (DecodePlan{kWideDecode, 1, true}));
  EXPECT_EQ(warps(256, 8192), kNarrowDecode);
  EXPECT_EQ(warps(320, 8192), kWideDecode);  // 2.4 of 3 waves instead of 1.2 of 2
  EXPECT_EQ(warps(512, 8192), kNarrowDecode);
}

TEST(DecodePlans, OverlapUnlessBlocksOfTheNextKernelTakeTheWrongPlaces) {
  EXPECT_TRUE(overlaps(8, 16384));
  EXPECT_FALSE(overlaps(8, 32768));
  EXPECT_TRUE(overlaps(12, 1 << 17));  // 48 blocks
  EXPECT_TRUE(overlaps(30, 1 << 17));  // 60
  EXPECT_TRUE(overlaps(16, 1024));
  EXPECT_FALSE(overlaps(16, 4096));
  EXPECT_TRUE(overlaps(32, 4096));
  EXPECT_FALSE(overlaps(32, 8192));
  EXPECT_FALSE(overlaps(48, 4096));
  EXPECT_TRUE(overlaps(64, 4096));
  EXPECT_FALSE(overlaps(64, 8192));
  EXPECT_FALSE(overlaps(80, 4096));
  EXPECT_TRUE(overlaps(128, 2048));
  EXPECT_FALSE(overlaps(128, 4096));
  EXPECT_TRUE(overlaps(160, 1 << 17));
  EXPECT_TRUE(overlaps(512, 32768));
}

TEST(DecodePlans, LeaveTilesToHalfTheWarps) {
  for (const int64_t heads : {1, 8, 30, 40})
    for (int seq_k = 1; seq_k < 3000; ++seq_k) {
      const DecodePlan made = plan(heads, seq_k);
      const int tiles = (seq_k + decode_keys(128) - 1) / decode_keys(128);
      if (made.split_bits == 0) continue;
      EXPECT_GT(2 * tiles, made.warps << made.split_bits) << heads << " heads, " << seq_k << " keys";
    }
  EXPECT_EQ(splits(1, 1), 1);
  EXPECT_EQ(splits(1, 128), 1);
  EXPECT_EQ(splits(1, 129), 2);
}

TEST(DecodePlans, FillRegistersAndSharedMemory) {
  EXPECT_EQ(decode_blocks_of_sm(128, 8, kNarrowDecode), 2);
  EXPECT_EQ(decode_blocks_of_sm(64, 16, kNarrowDecode), 2);
  EXPECT_EQ(decode_blocks_of_sm(128, 16, kNarrowDecode), 1);
  EXPECT_EQ(decode_blocks_of_sm(64, 8, kWideDecode), 1);
}

}  // namespace
}  // namespace kymo::flash
