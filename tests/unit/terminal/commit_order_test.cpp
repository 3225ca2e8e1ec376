// SPDX-License-Identifier: Apache-2.0
#include "terminal/commit_order.hpp"

#include <gtest/gtest.h>

namespace kymo::terminal {
namespace {

using Order = std::vector<std::size_t>;

constexpr const char* kEarly = "2026-01-01T00:00:00Z";
constexpr const char* kLate = "2026-01-02T00:00:00Z";

TEST(CommitOrder, IsThatOfTheirTimes) {
  EXPECT_EQ(commit_order({{"a", kLate, {"x"}}, {"b", kEarly, {"y"}}}), (Order{1, 0}));
  EXPECT_EQ(commit_order({}), Order{});
}

TEST(CommitOrder, HasNoCommitBeforeAParent) {
  // The clock of the machine that made the parent was ahead.
  EXPECT_EQ(commit_order({{"child", kEarly, {"parent"}}, {"parent", kLate, {}}}), (Order{1, 0}));
  // A rebase gives all of them the same time.
  EXPECT_EQ(commit_order({{"a", kEarly, {"b"}}, {"b", kEarly, {"c"}}, {"c", kEarly, {}}}), (Order{2, 1, 0}));
  EXPECT_EQ(commit_order({{"merge", kEarly, {"left", "right"}}, {"right", kEarly, {}}, {"left", kEarly, {}}}),
            (Order{2, 1, 0}));
}

TEST(CommitOrder, IsThatOfTheRepositoryOnlyIfItHasAllOfThem) {
  const std::vector<StoredCommit> commits{{"a", kLate, {}}, {"b", kEarly, {}}};
  EXPECT_EQ(commit_order(commits, {"a", "other", "b"}), (Order{0, 1}));
  EXPECT_EQ(commit_order(commits, {"a"}), (Order{1, 0}));
}

}  // namespace
}  // namespace kymo::terminal
