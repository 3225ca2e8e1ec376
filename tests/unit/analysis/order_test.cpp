// SPDX-License-Identifier: Apache-2.0
#include "analysis/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "analysis/number_index.hpp"

namespace kymo::analysis {
namespace {

std::vector<std::uint32_t> plain_order(const std::vector<std::uint64_t>& keys) {
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  return order;
}

TEST(Order, IsThatOfAStableSort) {
  std::mt19937_64 random(3);
  for (const std::uint64_t limit : {1ULL, 2ULL, 100ULL, 3000ULL, 1ULL << 40, ~0ULL}) {
    std::vector<std::uint64_t> keys(2000);
    for (auto& key : keys) key = limit == ~0ULL ? random() : random() % limit;
    EXPECT_EQ(order_of(keys), plain_order(keys)) << limit;
  }
  EXPECT_TRUE(order_of({}).empty());
  for (const std::size_t runs : {1, 2, 7, 8, 9}) {
    std::vector<std::uint64_t> keys(runs * 50);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i % 50 * 7 + random() % 5;
    EXPECT_EQ(order_of(keys), plain_order(keys)) << runs;
  }
}

TEST(Order, ArrangesInPlace) {
  std::mt19937_64 random(4);
  std::vector<std::uint64_t> keys(999);
  for (auto& key : keys) key = random() % 500;
  std::vector<std::uint64_t> sorted = keys;
  arrange(sorted, order_of(keys));
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  EXPECT_TRUE(std::is_permutation(sorted.begin(), sorted.end(), keys.begin()));
}

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
