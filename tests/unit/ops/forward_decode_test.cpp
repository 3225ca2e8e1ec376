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
int splits(int64_t heads, int64_t seq_k) { return 1 << decode_split_bits(decoding(heads, seq_k), kMultiprocessors); }

TEST(DecodeSplits, FillHalfTheGpu) {
  EXPECT_EQ(splits(1, 2048), 16);
  EXPECT_EQ(splits(8, 2000), 8);
  EXPECT_EQ(splits(24, 2000), 4);
  EXPECT_EQ(splits(32, 2000), 2);
  EXPECT_EQ(splits(61, 2000), 2);
  EXPECT_EQ(splits(62, 2000), 1);
  EXPECT_EQ(splits(1000, 2000), 1);
}

TEST(DecodeSplits, FillTheGpuTwiceIfTheyAreLong) {
  EXPECT_EQ(splits(24, 8192), 8);
  EXPECT_EQ(splits(32, 8192), 8);
  EXPECT_EQ(splits(64, 8192), 4);
  EXPECT_EQ(splits(128, 2048), 2);
  EXPECT_EQ(splits(247, 1 << 17), 2);
  EXPECT_EQ(splits(248, 1 << 17), 1);  // the last SMs are not worth twice as many blocks
}

TEST(DecodeSplits, AreNoClustersOfAboutOneBlockPerMultiprocessor) {
  EXPECT_EQ(splits(8, 1 << 17), 8);  // not 16, in 128 blocks
  EXPECT_EQ(splits(32, 8191), 2);
  Problem wide = decoding(32, 8192);
  wide.seq_q = 9;  // needs too many registers for two blocks per SM
  EXPECT_EQ(1 << decode_split_bits(wide, kMultiprocessors), 2);
}

TEST(DecodeSplits, LeaveTilesToHalfTheWarps) {
  for (const int64_t heads : {1, 8, 30})
    for (int seq_k = 1; seq_k < 3000; ++seq_k) {
      const int bits = decode_split_bits(decoding(heads, seq_k), kMultiprocessors);
      for (int i = 0; bits > 0 && i < 1 << bits; ++i)
        EXPECT_GE(decode_first_tile(i + 1, bits, seq_k, decode_keys(128)) -
                      decode_first_tile(i, bits, seq_k, decode_keys(128)),
                  kDecodeWarps / 2)
            << "split " << i << " of 2^" << bits << ", " << seq_k << " keys";
    }
  EXPECT_EQ(splits(1, 1), 1);
  EXPECT_EQ(splits(1, 128), 1);
  EXPECT_EQ(splits(1, 129), 2);
}

TEST(DecodeSplits, HoldAllTiles) {
  for (const int keys : {decode_keys(64), decode_keys(128)})
    for (const int bits : {0, 1, 4})
      for (const int seq_k : {1, 16, 17, 1000, 1 << 28}) {
        EXPECT_EQ(decode_first_tile(0, bits, seq_k, keys), 0);
        EXPECT_EQ(decode_first_tile(1 << bits, bits, seq_k, keys), (seq_k + keys - 1) / keys);
      }
}

TEST(DecodeSplits, AreSelectedUnlessManyAndLong) {
  const auto selected = [](int64_t heads, int64_t seq_k, int64_t d) {
    Problem p = decoding(heads, seq_k);
    p.d = d;
    return decode_is_faster(p, kMultiprocessors);
  };
  EXPECT_TRUE(selected(8, 1 << 17, 128));  // 64 blocks, half of the SMs
  EXPECT_TRUE(selected(32, 8192, 128));    // 8 splits of 1024 keys
  EXPECT_FALSE(selected(32, 8208, 128));
  EXPECT_TRUE(selected(128, 1 << 17, 128));  // two splits
  EXPECT_TRUE(selected(32, 32768, 64));
  EXPECT_FALSE(selected(32, 32784, 64));
}

}  // namespace
}  // namespace kymo::flash
