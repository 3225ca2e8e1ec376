// SPDX-License-Identifier: Apache-2.0
#include "supervisor/missing_collective.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kymo::supervisor {
namespace {

using measure::BegunCollective;
using measure::WorkerStatus;

/// The calls as "communicator sequence", numbered in their order; `forgotten` others precede them.
WorkerStatus begun(const std::vector<std::pair<std::string, int>>& calls, int forgotten = 0) {
  WorkerStatus status;
  status.collectives_begun = forgotten;
  for (const auto& [communicator, sequence] : calls)
    status.last_collectives.push_back({++status.collectives_begun, "all_reduce", communicator, sequence, 0});
  return status;
}

std::string missing(int rank, const std::vector<std::optional<WorkerStatus>>& ranks) {
  return missing_collective(rank, static_cast<int>(ranks.size()),
                            [&](int which) { return ranks[static_cast<std::size_t>(which)]; });
}

TEST(MissingCollective, IsTheFirstThatAnotherRankBegan) {
  EXPECT_EQ(missing(2, {begun({{"w", 0}, {"w", 1}, {"w", 2}}), begun({{"w", 0}, {"w", 1}}), begun({{"w", 0}})}),
            "rank 2 did not join all_reduce 1 of communicator 'w' (0 B), in which rank 0 and rank 1 are");
}

TEST(MissingCollective, IsNotNamedIfTheRankBeganAsMany) {
  EXPECT_EQ(missing(1, {begun({{"w", 0}, {"w", 1}}), begun({{"w", 0}, {"w", 1}})}), "");
  EXPECT_EQ(missing(1, {begun({{"w", 0}}), begun({{"w", 0}, {"w", 1}})}), "") << "it is ahead";
}

TEST(MissingCollective, IsNotAnothersGroup) {
  EXPECT_EQ(
      missing(2, {begun({{"w", 0}, {"a", 0}}), begun({{"w", 0}, {"a", 0}}), begun({{"w", 0}}), begun({{"w", 0}})}), "")
      << "ranks 0 and 1 have a group of their own";
  EXPECT_EQ(missing(1, {begun({{"w", 0}, {"a", 0}, {"a", 1}}), begun({{"w", 0}, {"a", 0}}), begun({{"w", 0}})}),
            "rank 1 did not join all_reduce 1 of communicator 'a' (0 B), in which rank 0 is");
}

TEST(MissingCollective, IsTheFirstCallOfAllOthers) {
  EXPECT_EQ(missing(0, {begun({}), begun({{"w", 0}}), begun({{"w", 0}})}),
            "rank 0 did not join all_reduce 0 of communicator 'w' (0 B), in which rank 1 and rank 2 are");
  EXPECT_EQ(missing(0, {begun({}), begun({{"w", 0}}), begun({})}), "") << "perhaps a group of rank 1";
  EXPECT_EQ(missing(0, {begun({{"a", 7}}, 20), begun({{"w", 0}})}), "") << "it may have begun that before";
}

TEST(MissingCollective, IsUnknownOfRanksThatAreNotSeen) {
  EXPECT_EQ(missing(0, {std::nullopt, begun({{"w", 0}})}), "");
  EXPECT_EQ(missing(0, {begun({}), std::nullopt}), "");
}

}  // namespace
}  // namespace kymo::supervisor
