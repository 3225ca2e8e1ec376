// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/graph_nodes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <thread>

namespace kymo::collect {
namespace {

constexpr std::int64_t kArenaBytes = 1 << 20;

event::Position at_range(std::int32_t range) {
  event::Position position;
  position.range = range;
  return position;
}

std::map<std::uint64_t, std::int32_t> taken(GraphNodes& nodes) {
  std::vector<event::GraphNode> all;
  nodes.take(all);
  std::map<std::uint64_t, std::int32_t> ranges;
  for (const auto& node : all) ranges[node.node] = node.position.range;
  return ranges;
}

TEST(GraphNodes, CopiesKeepThePositionOfTheirOriginal) {
  EventArena arena(kArenaBytes);
  GraphNodes nodes(arena);
  nodes.created(1, at_range(10));
  nodes.cloned(2, 1);
  nodes.cloned(3, 2);  // a copy of a copy
  nodes.cloned(1, 1);
  EXPECT_EQ(taken(nodes), (std::map<std::uint64_t, std::int32_t>{{1, 10}, {2, 10}, {3, 10}}));
  EXPECT_EQ(nodes.dropped(), 0);
}

TEST(GraphNodes, CopiesOfUnseenNodesAreCounted) {
  EventArena arena(kArenaBytes);
  GraphNodes nodes(arena);
  nodes.cloned(2, 1);
  nodes.cloned(3, 1);
  EXPECT_TRUE(taken(nodes).empty());
  EXPECT_EQ(nodes.unmatched_originals(), 2);
}

TEST(GraphNodes, ANumberThatIsUsedAgainHasItsNewPosition) {
  EventArena arena(kArenaBytes);
  GraphNodes nodes(arena);
  nodes.created(1, at_range(10));
  nodes.created(1, at_range(11));
  EXPECT_EQ(taken(nodes).at(1), 11);
}

TEST(GraphNodes, NewOnesAreAddedWhileThePassRuns) {
  EventArena arena(kArenaBytes);
  GraphNodes nodes(arena);
  nodes.created(1, at_range(10));
  nodes.created(2, at_range(11));
  std::vector<event::GraphNode> added;
  nodes.add_new(added);
  EXPECT_EQ(added.size(), 2u);
  added.clear();
  nodes.cloned(3, 2);
  nodes.created(1, at_range(12));
  nodes.add_new(added);
  ASSERT_EQ(added.size(), 2u);
  EXPECT_EQ(added[0].node, 3u);
  EXPECT_EQ(added[0].position.range, 11);
  EXPECT_EQ(added[1].position.range, 12) << "its number was used again";
  nodes.add_new(added);
  EXPECT_EQ(added.size(), 2u);
  EXPECT_EQ(taken(nodes).size(), 3u);
}

TEST(GraphNodes, AreBounded) {
  EventArena arena(kArenaBytes);
  GraphNodes nodes(arena);
  constexpr std::uint64_t kCount = 100'000;
  for (std::uint64_t i = 0; i < kCount; ++i) nodes.created(i, at_range(1));
  const auto kept = static_cast<std::int64_t>(taken(nodes).size());
  EXPECT_GT(kept, 1000);
  EXPECT_LT(kept, 20'000);
  EXPECT_EQ(kept + nodes.dropped(), static_cast<std::int64_t>(kCount));
}

TEST(GraphNodes, FromSeveralThreads) {
  EventArena arena(16 * kArenaBytes);
  GraphNodes nodes(arena);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&nodes, t] {
      for (std::uint64_t i = 0; i < 2000; ++i) {
        nodes.created(t * 100'000 + i, at_range(static_cast<std::int32_t>(t)));
        nodes.cloned(t * 100'000 + 50'000 + i, t * 100'000 + i);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const auto ranges = taken(nodes);
  EXPECT_EQ(ranges.size(), 16'000u);
  EXPECT_EQ(ranges.at(351'999), 3);
}

}  // namespace
}  // namespace kymo::collect
