// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/forward_splits.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace kymo::flash {
namespace {

constexpr int kMultiprocessors = 132;

Forward call_of(int64_t heads, int64_t seq_q, int64_t seq_k, bool causal, int64_t d = 64) {
  Forward call;
  call.problem.batch = 1;
  call.problem.heads_q = call.problem.heads_kv = heads;
  call.problem.seq_q = seq_q;
  call.problem.seq_k = seq_k;
  call.problem.d = d;
  call.problem.causal = causal;
  return call;
}

/// Split into chunks of this many key tiles.
ForwardSplits chunked(const Forward& call, int keys, int chunk, int rows = 128) {
  ForwardSplits splits = unsplit_forward(call.problem, rows, keys);
  splits.chunk = chunk;
  splits.chunks = (splits.key_tiles + chunk - 1) / chunk;
  return splits;
}

/// Whether any row of the query tile sees the key tile, by the definition of the mask.
bool sees(const ForwardSplits& splits, int row_tile, int key_tile) {
  const int last_row = (row_tile + 1) * splits.rows() - 1, first_key = key_tile * splits.keys;
  return first_key < splits.seq_k && (!splits.causal || first_key <= last_row + splits.shift);
}

/// Every visible tile belongs to one split of its query tile, every query tile has a split, and the numbering is
/// invertible.
void expect_whole(const ForwardSplits& splits) {
  std::map<std::pair<int, int>, std::set<int>> covered;  // key tiles per head and query tile
  for (int number = 0; number < splits.count(); ++number) {
    const ForwardSplit split = splits.split(number);
    std::set<int>& keys = covered[{split.head, split.row_tile}];
    EXPECT_LE(split.end - split.first, splits.chunk);
    for (int key_tile = split.first; key_tile < split.end; ++key_tile)
      EXPECT_TRUE(keys.insert(key_tile).second) << number;
    int before = 0;
    const int chunk = split.first / splits.chunk;
    for (int c = 0; c < chunk; ++c) before += splits.of_chunk(c);
    EXPECT_EQ(before + splits.number_in_chunk(chunk, split.head, split.row_tile), number);
  }
  ASSERT_EQ(covered.size(), static_cast<std::size_t>(splits.heads) * static_cast<std::size_t>(splits.row_tiles));
  for (const auto& [tile, keys] : covered)
    for (int key_tile = 0; key_tile < splits.key_tiles; ++key_tile)
      EXPECT_EQ(keys.count(key_tile) == 1, sees(splits, tile.second, key_tile))
          << "queries " << tile.second << ", keys " << key_tile;
}

TEST(ForwardSplits, HoldEachTileThatIsSeenOnce) {
  for (const bool causal : {false, true})
    for (const auto& [seq_q, seq_k] :
         {std::pair{1, 1}, {1, 4000}, {512, 512}, {2300, 2300}, {300, 2900}, {2600, 2100}, {1000, 130}})
      for (const int keys : {80, 128})
        for (const int chunk : {1, 2, 3, 7, 1000}) {
          SCOPED_TRACE(testing::Message()
                       << seq_q << " x " << seq_k << (causal ? " causal, " : ", ") << keys << " keys, chunk " << chunk);
          for (const int rows : {64, 128}) expect_whole(chunked(call_of(3, seq_q, seq_k, causal), keys, chunk, rows));
        }
}

TEST(ForwardSplits, AreNumberedAsDrawn) {
  const ForwardSplits splits = chunked(call_of(1, 512, 512, true), 128, 2);
  EXPECT_EQ(splits.count(), 6);
  const auto drawn = [&](int number) {
    const ForwardSplit split = splits.split(number);
    return std::tuple(split.row_tile, split.first, split.end);
  };
  EXPECT_EQ(drawn(0), std::tuple(3, 0, 2));
  EXPECT_EQ(drawn(3), std::tuple(0, 0, 1));
  EXPECT_EQ(drawn(4), std::tuple(3, 2, 4));
  EXPECT_EQ(drawn(5), std::tuple(2, 2, 3));
}

TEST(ForwardSplits, RowsThatSeeNothingHaveAnEmptySplit) {
  const ForwardSplits splits = unsplit_forward(call_of(1, 1000, 130, true).problem, 128, 128);
  const ForwardSplit last = splits.split(splits.count() - 1);  // the first queries: only the last 130 see keys
  EXPECT_EQ(last.row_tile, 0);
  EXPECT_GE(last.first, last.end);
}

TEST(ForwardSplits, AreSplitWhereTheGpuIsNotFull) {
  const ForwardSplits long_head = forward_splits(call_of(1, 8192, 8192, true), 128, 128, kMultiprocessors);
  EXPECT_GT(long_head.chunks, 1);
  EXPECT_LE(long_head.count(), kMultiprocessors);
  EXPECT_GT(long_head.count(), kMultiprocessors / 2);
  const ForwardSplits one_query = forward_splits(call_of(1, 1, 65536, false), 128, 128, kMultiprocessors);
  EXPECT_GT(one_query.chunks, 64);
}

TEST(ForwardSplits, OfFloatsFillAMultiprocessorTwice) {
  for (const bool causal : {false, true}) {
    Forward call = call_of(1, 8192, 8192, causal, 128);
    call.problem.element = Element::kFloat32;
    const ForwardSplits splits = forward_splits(call, 64, 64, kMultiprocessors);
    EXPECT_GT(splits.count(), kMultiprocessors) << causal;
  }
  EXPECT_EQ(block_rounds(2 * kMultiprocessors, kMultiprocessors, 1.5), 1.5);
  EXPECT_EQ(block_rounds(kMultiprocessors + 1, kMultiprocessors, 1.5), 1.5);
  EXPECT_EQ(block_rounds(3 * kMultiprocessors, kMultiprocessors, 1.5), 2.5);
  EXPECT_EQ(block_rounds(kMultiprocessors + 1, kMultiprocessors, 2), 2);
}

TEST(ForwardSplits, AreUnsplitWhereThatWouldNotPay) {
  EXPECT_EQ(forward_splits(call_of(1, 256, 256, true), 128, 128, kMultiprocessors).chunks, 1);     // too short
  EXPECT_EQ(forward_splits(call_of(32, 4096, 4096, true), 128, 128, kMultiprocessors).chunks, 1);  // the GPU is full
  EXPECT_EQ(forward_splits(call_of(8, 1024, 1024, false, 256), 128, 80, kMultiprocessors).chunks,
            1);  // the partial outputs are large
}

TEST(ForwardSplits, RequestedByNumberAreSplit) {
  Forward call = call_of(1, 256, 256, true);
  call.variant = 0;
  const ForwardSplits splits = forward_splits(call, 128, 128, kMultiprocessors);
  EXPECT_EQ(splits.chunks, 2);
  EXPECT_EQ(splits.count(), 3);
}

TEST(ForwardSplits, SpaceHoldsAllOutputsAndSums) {
  const ForwardSplits splits = chunked(call_of(1, 512, 512, true), 128, 2);
  EXPECT_EQ(forward_space(splits, 64).outputs, 6 * 128 * 64);
  EXPECT_EQ(forward_space(splits, 64).bytes(), 6u * 128 * (64 + 2) * 4);
}

}  // namespace
}  // namespace kymo::flash
