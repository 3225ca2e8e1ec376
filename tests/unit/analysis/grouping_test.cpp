// SPDX-License-Identifier: Apache-2.0
#include "analysis/grouping.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace kymo::analysis {
namespace {

TEST(Grouping, NumbersKeysInOrderOfFirstUse) {
  Grouping groups;
  EXPECT_EQ(groups.size(), 0u);
  EXPECT_EQ(groups.number_of({7, 1}), 0u);
  EXPECT_EQ(groups.number_of({7, 2}), 1u);
  EXPECT_EQ(groups.number_of({1, 7}), 2u);
  EXPECT_EQ(groups.number_of({7, 2}), 1u);
  EXPECT_EQ(groups.number_of({0, 0}), 3u);
  EXPECT_EQ(groups.number_of({7, 1}), 0u);
  EXPECT_EQ(groups.size(), 4u);
}

TEST(Grouping, AgreesWithAMapWhileItGrows) {
  std::mt19937_64 random(3);
  Grouping groups;
  std::map<GroupKey, std::uint32_t> expected;
  for (int i = 0; i < 200'000; ++i) {
    const GroupKey key = {random() % 300 << 32, random() % 100};
    const auto number = expected.emplace(key, static_cast<std::uint32_t>(expected.size())).first->second;
    ASSERT_EQ(groups.number_of(key), number);
  }
  EXPECT_GT(groups.size(), 20'000u);
  EXPECT_EQ(groups.size(), expected.size());
}

}  // namespace
}  // namespace kymo::analysis
