// SPDX-License-Identifier: Apache-2.0
#include "analysis/intervals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <random>

namespace kymo::analysis {
namespace {

constexpr std::size_t kSpan = 64;
using Bits = std::bitset<kSpan>;

Bits bits_of(const IntervalSet& set) {
  Bits bits;
  for (const Interval& interval : set)
    for (std::int64_t i = interval.start_ns; i < interval.end_ns; ++i) bits.set(static_cast<std::size_t>(i));
  return bits;
}

void expect_well_formed(const IntervalSet& set) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    EXPECT_LT(set[i].start_ns, set[i].end_ns);
    EXPECT_TRUE(i == 0 || set[i - 1].end_ns < set[i].start_ns);
  }
}

TEST(Intervals, OfNothing) {
  EXPECT_EQ(length_ns({}), 0);
  EXPECT_TRUE(merged({}).empty());
  EXPECT_TRUE(intersect({}, {{0, 5}}).empty());
  EXPECT_EQ(complement({}, {3, 9}), (IntervalSet{{3, 9}}));
  EXPECT_TRUE(complement({}, {9, 9}).empty());
  EXPECT_TRUE(merged({{5, 5}, {7, 2}}).empty());
}

TEST(Intervals, ThatTouchBecomeOne) {
  EXPECT_EQ(merged({{5, 9}, {0, 5}, {12, 13}, {9, 11}}), (IntervalSet{{0, 11}, {12, 13}}));
}

TEST(Intervals, AgreeWithSetsOfPoints) {
  std::mt19937 random(1);
  const auto any = [&] {
    std::vector<Interval> intervals(random() % 8);
    for (auto& interval : intervals) {
      interval.start_ns = static_cast<std::int64_t>(random() % kSpan);
      interval.end_ns = std::min<std::int64_t>(kSpan, interval.start_ns + static_cast<std::int64_t>(random() % 12));
    }
    return merged(intervals);
  };
  for (int round = 0; round < 2000; ++round) {
    const IntervalSet a = any(), b = any();
    const Interval span{static_cast<std::int64_t>(random() % 32), static_cast<std::int64_t>(32 + random() % 32)};
    const Bits within = bits_of({span});
    for (const IntervalSet& set : {a, unite(a, b), intersect(a, b), subtract(a, b), complement(a, span)})
      expect_well_formed(set);
    EXPECT_EQ(bits_of(unite(a, b)), bits_of(a) | bits_of(b));
    EXPECT_EQ(bits_of(intersect(a, b)), bits_of(a) & bits_of(b));
    EXPECT_EQ(bits_of(subtract(a, b)), bits_of(a) & ~bits_of(b));
    EXPECT_EQ(bits_of(complement(a, span)), within & ~bits_of(a));
    const IntervalSet outside = complement(a, span);
    std::int64_t longest = 0;
    for (const Interval& gap : outside) longest = std::max(longest, gap.end_ns - gap.start_ns);
    const Gaps gaps = gaps_within(a, span);
    EXPECT_EQ(gaps.count, static_cast<std::int64_t>(outside.size()));
    EXPECT_EQ(gaps.total_ns, length_ns(outside));
    EXPECT_EQ(gaps.longest_ns, longest);
    EXPECT_EQ(length_ns(a), static_cast<std::int64_t>(bits_of(a).count()));
    EXPECT_EQ(length_within_ns(a, span), static_cast<std::int64_t>((bits_of(a) & within).count()));
  }
}

}  // namespace
}  // namespace kymo::analysis
