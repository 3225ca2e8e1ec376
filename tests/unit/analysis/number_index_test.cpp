// SPDX-License-Identifier: Apache-2.0
#include "analysis/number_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kymo::analysis {
namespace {

TEST(NumberIndex, FindsTheFirstIndexOfEachNumber) {
  std::mt19937_64 random(5);
  for (const std::uint64_t gap : {1, 3, 1000}) {  // the first two use a lookup table, the last a search
    std::vector<std::uint64_t> numbers(500);
    for (auto& number : numbers) number = 10 + random() % 300 * gap;
    NumberIndex index(numbers);
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t wanted = random() % 4 == 0 ? random() : random() % (302 * gap + 10);
      const auto found = std::find(numbers.begin(), numbers.end(), wanted);
      const auto expected =
          found == numbers.end() ? NumberIndex::kNone : static_cast<std::uint32_t>(found - numbers.begin());
      ASSERT_EQ(index.find(wanted), expected) << wanted;
    }
  }
}

TEST(NumberIndex, OfNothingFindsNothing) {
  NumberIndex index({});
  EXPECT_EQ(index.find(0), NumberIndex::kNone);
  NumberIndex ends({0, ~0ULL});
  EXPECT_EQ(ends.find(~0ULL), 1u);
  EXPECT_EQ(ends.find(0), 0u);
  EXPECT_EQ(ends.find(5), NumberIndex::kNone);
}

}  // namespace
}  // namespace kymo::analysis
