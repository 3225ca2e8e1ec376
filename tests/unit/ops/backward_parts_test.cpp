// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/backward_parts.hpp"

#include <gtest/gtest.h>

namespace kymo::flash {
namespace {

constexpr int kMultiprocessors = 132;
constexpr QueryCut kHopper64 = query_cut(false, 64), kHopper128 = query_cut(false, 128),
                   kHopper256 = query_cut(false, 256), kFloat64 = query_cut(true, 64),
                   kFloat128 = query_cut(true, 128, float_backward_kb(128)),
                   kFloat256 = query_cut(true, 256, float_backward_kb(256)), kSmall128 = query_cut(true, 128),
                   kSmall256 = query_cut(true, 256);

Problem problem(int64_t heads, int64_t seq, bool causal, Element element = Element::kBfloat16) {
  Problem p;
  p.element = element;
  p.batch = 1;
  p.heads_q = p.heads_kv = heads;
  p.seq_q = p.seq_k = seq;
  p.causal = causal;
  return p;
}

TEST(BackwardParts, FillTheGpuAndHoldEachTileOnce) {
  for (const QueryCut& cut : {kHopper64, kHopper128, kHopper256, kFloat64, kFloat128, kFloat256, kSmall128, kSmall256})
    for (const int64_t heads : {1, 3, 16})
      for (const int64_t seq : {1, 100, 1000, 5000, 40000})
        for (const bool causal : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << cut.columns << " columns, " << heads << " x " << seq << (causal ? " causal" : ""));
          const QueryParts parts = query_parts(problem(heads, seq, causal), cut, kMultiprocessors);
          EXPECT_GE(int64_t{parts.tiles} * cut.rows, seq);
          EXPECT_GE(parts.parts() * parts.part, parts.tiles);
          EXPECT_LT((parts.parts() - 1) * parts.part, parts.tiles);
          EXPECT_TRUE(parts.part >= cut.least_tiles || parts.parts() == 1);
          EXPECT_TRUE(parts.parts() == 1 ||
                      parts.key_blocks * parts.parts() <= (causal ? 2 : 1) * cut.blocks * kMultiprocessors);
        }
}

TEST(BackwardParts, ServeOneHead) {
  EXPECT_EQ(query_parts(problem(1, 4096, false), kHopper64, kMultiprocessors).part,
            8);  // 32 blocks: four splits of 32 tiles
  EXPECT_EQ(query_parts(problem(1, 4096, true), kHopper64, kMultiprocessors).part, 4);  // half of them are empty
  EXPECT_EQ(query_parts(problem(1, 512, false), kHopper64, kMultiprocessors).parts(), 1);
}

TEST(BackwardParts, LeaveNoFewBlocksForASecondRound) {
  EXPECT_EQ(query_parts(problem(1, 1024, true), kFloat256, kMultiprocessors).part,
            3);  // with two tiles, 136 blocks would have work
  EXPECT_EQ(query_parts(problem(1, 1024, true), kFloat128, kMultiprocessors).part,
            2);  // with one tile, 272 blocks for 264 slots
  EXPECT_EQ(query_parts(problem(1, 512, true), kFloat256, kMultiprocessors).part, 1);
}

TEST(BackwardParts, AreMadeWhereTheyMeasuredFaster) {
  EXPECT_TRUE(query_cut_pays(problem(1, 4096, false), kHopper64, kMultiprocessors));
  EXPECT_TRUE(query_cut_pays(problem(1, 16384, true), kHopper64, kMultiprocessors));
  EXPECT_TRUE(query_cut_pays(problem(1, 8192, true), kHopper256, kMultiprocessors));
  EXPECT_TRUE(query_cut_pays(problem(8, 512, true, Element::kFloat32), kFloat64, kMultiprocessors));
}

TEST(BackwardParts, AreNotMadeWhereTheyWouldCostMore) {
  EXPECT_FALSE(query_cut_pays(problem(1, 256, false), kHopper64, kMultiprocessors));  // too short
  EXPECT_FALSE(
      query_cut_pays(problem(8, 1024, true), kHopper128, kMultiprocessors));  // the additions take longer than the gain
  EXPECT_FALSE(query_cut_pays(problem(1, 16384, false), kHopper64, kMultiprocessors));  // full already
  EXPECT_FALSE(query_cut_pays(problem(16, 4096, true), kHopper128, kMultiprocessors));
  EXPECT_FALSE(query_cut_pays(problem(1, 64, true, Element::kFloat32), kFloat64, kMultiprocessors));
}

TEST(BackwardParts, CountAGroupsQueriesTogether) {
  Problem p = problem(1, 768, false);
  EXPECT_FALSE(query_cut_pays(p, kHopper256, 32));
  p.heads_q = 8;  // eight times the work per block, for the same keys
  EXPECT_TRUE(query_cut_pays(p, kHopper256, 32));
}

}  // namespace
}  // namespace kymo::flash
