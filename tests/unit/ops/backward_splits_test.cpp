// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/backward_splits.hpp"

#include <gtest/gtest.h>

namespace kymo::flash {
namespace {

constexpr int kMultiprocessors = 132;
constexpr SplitQTile kHopper64 = split_q_tile(false, 64), kHopper128 = split_q_tile(false, 128),
                     kLockstep128 = split_q_tile(false, 128, kMinSharedKb, true), kHopper256 = split_q_tile(false, 256),
                     kFloat64 = split_q_tile(true, 64), kFloat128 = split_q_tile(true, 128, float_backward_kb(128)),
                     kFloat256 = split_q_tile(true, 256, float_backward_kb(256)), kSmall128 = split_q_tile(true, 128),
                     kSmall256 = split_q_tile(true, 256);

Problem problem(int64_t heads, int64_t seq, bool causal, Element element = Element::kBfloat16) {
  Problem p;
  p.element = element;
  p.batch = 1;
  p.heads_q = p.heads_kv = heads;
  p.seq_q = p.seq_k = seq;
  p.causal = causal;
  return p;
}

TEST(BackwardSplits, FillTheGpuAndHoldEachTileOnce) {
  for (const SplitQTile& tile :
       {kHopper64, kHopper128, kLockstep128, kHopper256, kFloat64, kFloat128, kFloat256, kSmall128, kSmall256})
    for (const int64_t heads : {1, 3, 16})
      for (const int64_t seq : {1, 100, 1000, 5000, 40000})
        for (const bool causal : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << tile.columns << " columns, " << heads << " x " << seq << (causal ? " causal" : ""));
          const QuerySplits splits = query_splits(problem(heads, seq, causal), tile, kMultiprocessors);
          EXPECT_GE(int64_t{splits.tiles} * tile.rows, seq);
          EXPECT_GE(splits.count() * splits.split_tiles, splits.tiles);
          EXPECT_LT((splits.count() - 1) * splits.split_tiles, splits.tiles);
          EXPECT_TRUE(splits.split_tiles >= tile.min_tiles || splits.count() == 1);
          EXPECT_TRUE(splits.count() == 1 ||
                      splits.key_blocks * splits.count() <= (causal ? 2 : 1) * tile.blocks * kMultiprocessors);
        }
}

TEST(BackwardSplits, ServeOneHead) {
  EXPECT_EQ(query_splits(problem(1, 4096, false), kHopper64, kMultiprocessors).split_tiles,
            8);  // 32 blocks: four splits of 32 tiles
  EXPECT_EQ(query_splits(problem(1, 4096, true), kHopper64, kMultiprocessors).split_tiles,
            4);  // half of them are empty
  EXPECT_EQ(query_splits(problem(1, 512, false), kHopper64, kMultiprocessors).count(), 1);
}

TEST(BackwardSplits, LeaveNoFewBlocksForASecondRound) {
  EXPECT_EQ(query_splits(problem(1, 1024, true), kFloat256, kMultiprocessors).split_tiles,
            3);  // with two tiles, 136 blocks would have work
  EXPECT_EQ(query_splits(problem(1, 1024, true), kFloat128, kMultiprocessors).split_tiles,
            2);  // with one tile, 272 blocks for 264 slots
  EXPECT_EQ(query_splits(problem(1, 512, true), kFloat256, kMultiprocessors).split_tiles, 1);
}

TEST(BackwardSplits, AreMadeWhereTheyMeasuredFaster) {
  EXPECT_TRUE(split_q_is_faster(problem(1, 4096, false), kHopper64, kMultiprocessors));
  EXPECT_TRUE(split_q_is_faster(problem(1, 16384, true), kHopper64, kMultiprocessors));
  EXPECT_TRUE(split_q_is_faster(problem(1, 8192, true), kHopper256, kMultiprocessors));
  EXPECT_TRUE(split_q_is_faster(problem(8, 512, true, Element::kFloat32), kFloat64, kMultiprocessors));
}

TEST(BackwardSplits, AreNotMadeWhereTheyWouldCostMore) {
  EXPECT_FALSE(split_q_is_faster(problem(1, 256, false), kHopper64, kMultiprocessors));  // too short
  EXPECT_FALSE(split_q_is_faster(problem(8, 1024, true), kHopper128,
                                 kMultiprocessors));  // the additions take longer than the gain
  EXPECT_FALSE(split_q_is_faster(problem(1, 16384, false), kHopper64, kMultiprocessors));  // full already
  EXPECT_FALSE(split_q_is_faster(problem(16, 4096, true), kHopper128, kMultiprocessors));
  EXPECT_FALSE(split_q_is_faster(problem(1, 64, true, Element::kFloat32), kFloat64, kMultiprocessors));
}

TEST(Lockstep, IsSelectedWhereItMeasuredFaster) {
  const auto selected = [](int64_t queries, int64_t keys, bool causal, bool deterministic = false) {
    Problem p = problem(16, keys, causal);
    p.seq_q = queries;
    return lockstep_is_faster(p, deterministic);
  };
  for (const int64_t seq : {1024, 4096, 16384}) {
    EXPECT_TRUE(selected(seq, seq, false));
    EXPECT_EQ(selected(seq, seq, true), seq >= 4096);
    EXPECT_TRUE(selected(seq, seq, true, true));
  }
  EXPECT_FALSE(selected(512, 512, false));
  for (const int64_t queries : {80, 160, 320, 640}) EXPECT_TRUE(selected(queries, 4096, false)) << queries;
  for (const int64_t queries : {1, 64, 128, 256}) EXPECT_FALSE(selected(queries, 8192, false)) << queries;
}

TEST(Lockstep, DividesByNoScaleThatIsTooSmall) {
  Problem p = problem(16, 4096, false);
  p.scale = 0.088f;
  EXPECT_TRUE(lockstep_fits(p));
  p.scale = 1e-35f;  // the quotient would be infinite
  EXPECT_FALSE(lockstep_fits(p));
}

TEST(ShortBackward, SupportsKeyBlocksWithFewQueryRows) {
  Problem p = problem(12, 4096, false);
  for (const ShortTile& tile : {short_tile(64), short_tile(128)}) {
    p.heads_q = 12, p.seq_q = 512;
    EXPECT_TRUE(tile.fits(p));
    p.seq_q = 513;
    EXPECT_FALSE(tile.fits(p));
    p.heads_q = 48, p.seq_q = 128;  // four heads in a group
    EXPECT_TRUE(tile.fits(p));
    p.heads_q = 60;
    EXPECT_FALSE(tile.fits(p));
  }
  p.heads_q = 96, p.seq_q = 64;  // eight heads, which need 1024 rows in tiles of 128
  EXPECT_FALSE(short_tile(64).fits(p));
  EXPECT_TRUE(short_tile(128).fits(p));
}

TEST(ShortBackward, IsSelectedWhereItMeasuredFaster) {
  const auto selected = [](int64_t batch, int64_t heads, int64_t queries, int64_t keys) {
    Problem p = problem(heads, keys, false);
    p.batch = batch, p.seq_q = queries;
    return short_is_faster(p, kMultiprocessors);
  };
  for (const int64_t seq : {64, 128, 256, 512}) EXPECT_TRUE(selected(1, 12, seq, seq)) << seq;
  EXPECT_TRUE(selected(8, 12, 256, 256));
  EXPECT_TRUE(selected(16, 12, 128, 128));
  EXPECT_TRUE(selected(2, 12, 384, 384));
  EXPECT_TRUE(selected(4, 12, 128, 512));
  EXPECT_TRUE(selected(4, 12, 512, 128));
  EXPECT_FALSE(selected(2, 12, 512, 512));
  EXPECT_FALSE(selected(4, 32, 256, 256));
  EXPECT_FALSE(selected(8, 12, 384, 384));
  EXPECT_FALSE(selected(1, 16, 128, 8192));
}

TEST(PairedBackward, SupportsHeadsOfTwoTilesWithoutGroups) {
  Problem p = problem(12, 256, false);
  EXPECT_TRUE(fits_pairs(p));
  p.seq_q = 255;
  EXPECT_FALSE(fits_pairs(p));
  p.seq_k = 255;
  EXPECT_TRUE(fits_pairs(p));
  p.heads_q = 24;
  EXPECT_FALSE(fits_pairs(p));
  EXPECT_FALSE(fits_pairs(problem(12, 257, false)));
}

TEST(PairedBackward, IsSelectedWhereItMeasuredFaster) {
  const auto selected = [](int64_t batch, int64_t heads, int64_t seq, bool causal = false) {
    Problem p = problem(heads, seq, causal);
    p.batch = batch;
    return pairs_are_faster(p, kMultiprocessors);
  };
  for (const int64_t batch : {4, 11, 12, 16}) EXPECT_TRUE(selected(batch, 12, 256)) << batch;
  for (const int64_t batch : {1, 6, 8, 22, 32}) EXPECT_FALSE(selected(batch, 12, 256)) << batch;
  for (const int64_t batch : {6, 8, 11, 12, 16, 22, 32, 44}) EXPECT_TRUE(selected(batch, 12, 128)) << batch;
  for (const int64_t batch : {1, 4}) EXPECT_FALSE(selected(batch, 12, 128)) << batch;
  for (const int64_t batch : {4, 11, 12, 16, 22, 44}) EXPECT_TRUE(selected(batch, 12, 256, true)) << batch;
  for (const int64_t batch : {1, 6, 8}) EXPECT_FALSE(selected(batch, 12, 256, true)) << batch;
  EXPECT_TRUE(selected(4, 16, 256));
  EXPECT_FALSE(selected(4, 20, 256));
}

TEST(BackwardSplits, CountAGroupsQueriesTogether) {
  Problem p = problem(1, 768, false);
  EXPECT_FALSE(split_q_is_faster(p, kHopper256, 32));
  p.heads_q = 8;  // eight times the work per block, for the same keys
  EXPECT_TRUE(split_q_is_faster(p, kHopper256, 32));
}

TEST(BackwardSplits, SplitTheQueryHeadsOfLongCausalGroups) {
  Problem p = problem(8, 8192, true);
  EXPECT_EQ(query_splits(p, kHopper128, kMultiprocessors).head_splits, 1);
  p.heads_q = 64;
  for (const SplitQTile& tile : {kHopper64, kHopper128}) {
    const QuerySplits splits = query_splits(p, tile, kMultiprocessors);
    EXPECT_EQ(splits.head_splits, 8);
    EXPECT_EQ(splits.count(), 1);  // each block processes all queries of its head
    EXPECT_TRUE(split_q_is_faster(p, tile, kMultiprocessors));
  }
  EXPECT_EQ(query_splits(p, kLockstep128, kMultiprocessors).head_splits, 4);  // two heads for a block
  p.heads_q = 56;
  EXPECT_EQ(query_splits(p, kLockstep128, kMultiprocessors).head_splits, 7);
  p.heads_q = 64;
  EXPECT_EQ(query_splits(p, kHopper256, kMultiprocessors).head_splits, 1);
  EXPECT_EQ(query_splits(problem(8, 8192, true, Element::kFloat32), kFloat128, kMultiprocessors).head_splits, 1);
  p.causal = false;
  EXPECT_EQ(query_splits(p, kHopper128, kMultiprocessors).head_splits, 1);
  p.causal = true;
  p.seq_q = p.seq_k = 4096;
  EXPECT_EQ(query_splits(p, kHopper128, kMultiprocessors).head_splits, 8);
  EXPECT_EQ(query_splits(p, kHopper64, kMultiprocessors).head_splits, 1);  // measured slower
}

}  // namespace
}  // namespace kymo::flash
