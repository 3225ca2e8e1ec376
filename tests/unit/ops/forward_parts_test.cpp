// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/forward_parts.hpp"

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
ForwardParts chunked(const Forward& call, int keys, int chunk, int rows = 128) {
  ForwardParts parts = uncut_forward(call.problem, rows, keys);
  parts.chunk = chunk;
  parts.chunks = (parts.key_tiles + chunk - 1) / chunk;
  return parts;
}

/// Whether any row of the query tile sees the key tile, by the definition of the mask.
bool sees(const ForwardParts& parts, int row_tile, int key_tile) {
  const int last_row = (row_tile + 1) * parts.rows() - 1, first_key = key_tile * parts.keys;
  return first_key < parts.seq_k && (!parts.causal || first_key <= last_row + parts.shift);
}

/// Every visible tile belongs to one split of its query tile, every query tile has a split, and the numbering is
/// invertible.
void expect_whole(const ForwardParts& parts) {
  std::map<std::pair<int, int>, std::set<int>> covered;  // key tiles per head and query tile
  for (int number = 0; number < parts.count(); ++number) {
    const ForwardPart part = parts.part(number);
    std::set<int>& keys = covered[{part.head, part.row_tile}];
    EXPECT_LE(part.end - part.first, parts.chunk);
    for (int key_tile = part.first; key_tile < part.end; ++key_tile)
      EXPECT_TRUE(keys.insert(key_tile).second) << number;
    int before = 0;
    const int chunk = part.first / parts.chunk;
    for (int c = 0; c < chunk; ++c) before += parts.of_chunk(c);
    EXPECT_EQ(before + parts.number_in_chunk(chunk, part.head, part.row_tile), number);
  }
  ASSERT_EQ(covered.size(), static_cast<std::size_t>(parts.heads) * static_cast<std::size_t>(parts.row_tiles));
  for (const auto& [tile, keys] : covered)
    for (int key_tile = 0; key_tile < parts.key_tiles; ++key_tile)
      EXPECT_EQ(keys.count(key_tile) == 1, sees(parts, tile.second, key_tile))
          << "queries " << tile.second << ", keys " << key_tile;
}

TEST(ForwardParts, HoldEachTileThatIsSeenOnce) {
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

TEST(ForwardParts, AreNumberedAsDrawn) {
  const ForwardParts parts = chunked(call_of(1, 512, 512, true), 128, 2);
  EXPECT_EQ(parts.count(), 6);
  const auto drawn = [&](int number) {
    const ForwardPart part = parts.part(number);
    return std::tuple(part.row_tile, part.first, part.end);
  };
  EXPECT_EQ(drawn(0), std::tuple(3, 0, 2));
  EXPECT_EQ(drawn(3), std::tuple(0, 0, 1));
  EXPECT_EQ(drawn(4), std::tuple(3, 2, 4));
  EXPECT_EQ(drawn(5), std::tuple(2, 2, 3));
}

TEST(ForwardParts, RowsThatSeeNothingHaveAnEmptyPart) {
  const ForwardParts parts = uncut_forward(call_of(1, 1000, 130, true).problem, 128, 128);
  const ForwardPart last = parts.part(parts.count() - 1);  // the first queries: only the last 130 see keys
  EXPECT_EQ(last.row_tile, 0);
  EXPECT_GE(last.first, last.end);
}

TEST(ForwardParts, AreCutWhereTheGpuIsNotFull) {
  const ForwardParts long_head = forward_parts(call_of(1, 8192, 8192, true), 128, 128, kMultiprocessors);
  EXPECT_GT(long_head.chunks, 1);
  EXPECT_LE(long_head.count(), kMultiprocessors);
  EXPECT_GT(long_head.count(), kMultiprocessors / 2);
  const ForwardParts one_query = forward_parts(call_of(1, 1, 65536, false), 128, 128, kMultiprocessors);
  EXPECT_GT(one_query.chunks, 64);
}

TEST(ForwardParts, OfFloatsFillAMultiprocessorTwice) {
  for (const bool causal : {false, true}) {
    Forward call = call_of(1, 8192, 8192, causal, 128);
    call.problem.element = Element::kFloat32;
    const ForwardParts parts = forward_parts(call, 64, 64, kMultiprocessors);
    EXPECT_GT(parts.count(), kMultiprocessors) << causal;
  }
  EXPECT_EQ(block_rounds(2 * kMultiprocessors, kMultiprocessors, 1.5), 1.5);
  EXPECT_EQ(block_rounds(kMultiprocessors + 1, kMultiprocessors, 1.5), 1.5);
  EXPECT_EQ(block_rounds(3 * kMultiprocessors, kMultiprocessors, 1.5), 2.5);
  EXPECT_EQ(block_rounds(kMultiprocessors + 1, kMultiprocessors, 2), 2);
}

TEST(ForwardParts, AreUncutWhereThatWouldNotPay) {
  EXPECT_EQ(forward_parts(call_of(1, 256, 256, true), 128, 128, kMultiprocessors).chunks, 1);     // too short
  EXPECT_EQ(forward_parts(call_of(32, 4096, 4096, true), 128, 128, kMultiprocessors).chunks, 1);  // the GPU is full
  EXPECT_EQ(forward_parts(call_of(8, 1024, 1024, false, 256), 128, 80, kMultiprocessors).chunks,
            1);  // the partial outputs are large
}

TEST(ForwardParts, AskedForByNumberAreCut) {
  Forward call = call_of(1, 256, 256, true);
  call.variant = 0;
  const ForwardParts parts = forward_parts(call, 128, 128, kMultiprocessors);
  EXPECT_EQ(parts.chunks, 2);
  EXPECT_EQ(parts.count(), 3);
}

TEST(ForwardParts, SpaceHoldsAllOutputsAndSums) {
  const ForwardParts parts = chunked(call_of(1, 512, 512, true), 128, 2);
  EXPECT_EQ(forward_space(parts, 64).outputs, 6 * 128 * 64);
  EXPECT_EQ(forward_space(parts, 64).bytes(), 6u * 128 * (64 + 2) * 4);
}

}  // namespace
}  // namespace kymo::flash
