// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/forward_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

namespace kymo::flash {
namespace {

constexpr int kBlocks = 132, kAnyNumber = 1 << 20;

/// The work of each block in key tiles. Checks that each query tile is assigned once.
std::vector<int> tiles_per_block(const ForwardPairs& pairs, int blocks) {
  std::vector<int> work(static_cast<size_t>(blocks), 0);
  std::set<std::pair<int, int>> given;
  for (int block = 0; block < blocks; ++block)
    for (int round = 0;; ++round) {
      const int number = pairs.number(round, block, blocks);
      if (number >= pairs.tiles) break;
      const ForwardPairs::TileCoord coord = pairs.coord(number);
      EXPECT_TRUE(given.insert({coord.head, coord.row_tile}).second)
          << "head " << coord.head << ", tile " << coord.row_tile;
      EXPECT_TRUE(coord.head >= 0 && coord.head < pairs.heads && coord.row_tile >= 0 &&
                  coord.row_tile < pairs.row_tiles);
      work[static_cast<size_t>(block)] += coord.row_tile + 1;
    }
  EXPECT_EQ(static_cast<int>(given.size()), pairs.tiles);
  return work;
}

double longest_over_mean(const ForwardPairs& pairs, int blocks) {
  const std::vector<int> work = tiles_per_block(pairs, blocks);
  return *std::max_element(work.begin(), work.end()) * blocks / std::accumulate(work.begin(), work.end(), 0.0);
}

TEST(ForwardPairs, GiveEachTileOnce) {
  for (const int blocks : {1, 7, 78, kBlocks})
    for (const int heads : {1, 2, 3, 31, 132, 400, 1024})
      for (const int row_tiles : {1, 2, 3, 4, 5, 8, 12, 16, 33})
        for (const int heads_in_l2 : {1, 30, kAnyNumber}) {
          const int used = std::min(blocks, heads * row_tiles);
          SCOPED_TRACE(testing::Message()
                       << blocks << " blocks, " << heads << " x " << row_tiles << ", " << heads_in_l2 << " in L2");
          tiles_per_block(forward_pairs(heads, row_tiles, used, heads_in_l2), used);
        }
}

TEST(ForwardPairs, EvenOutWhatIsLeftOver) {
  struct Shape {
    int heads, row_tiles;
  };
  for (const Shape& shape :
       {Shape{512, 4}, {256, 8}, {128, 16}, {512, 8}, {256, 16}}) {  // 16384 tokens: d 128, then d 64
    SCOPED_TRACE(testing::Message() << shape.heads << " x " << shape.row_tiles);
    EXPECT_LT(longest_over_mean(forward_pairs(shape.heads, shape.row_tiles, kBlocks, kAnyNumber), kBlocks), 1.02);
    EXPECT_GT(longest_over_mean(forward_pairs(shape.heads, shape.row_tiles, kBlocks, 1), kBlocks), 1.03);
  }
}

TEST(ForwardPairs, StayPairsWhereTheRestIsOfManyHeads) {
  EXPECT_EQ(forward_pairs(64, 32, kBlocks, 15).paired, 0);
  EXPECT_EQ(forward_pairs(16, 128, kBlocks, 1 << 20).paired, 0);  // full rounds never consist of whole heads
  EXPECT_EQ(forward_pairs(1024, 4, kBlocks, 1 << 20).paired,
            0);  // 100 heads would be left over, whose keys all blocks would load at once
  EXPECT_EQ(forward_pairs(512, 8, kBlocks, 1 << 20).paired, 14 * 2 * kBlocks);
}

}  // namespace
}  // namespace kymo::flash
