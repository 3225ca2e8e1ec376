// SPDX-License-Identifier: Apache-2.0
#include "collect/reading_interval.hpp"

#include <gtest/gtest.h>

namespace kymo::collect {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(ReadingInterval, IsAtLeast50Milliseconds) {
  ReadingInterval interval;
  interval.restart(0);
  EXPECT_TRUE(interval.is_due(0));
  interval.taken(10 * kMs, 14 * kMs);
  EXPECT_FALSE(interval.is_due(60 * kMs - 1));
  EXPECT_TRUE(interval.is_due(60 * kMs));
}

TEST(ReadingInterval, LimitsTheShareOfReadings) {
  ReadingInterval interval;
  interval.restart(500);
  interval.taken(10 * kMs, 11 * kMs);
  EXPECT_FALSE(interval.is_due(510 * kMs - 1));
  EXPECT_TRUE(interval.is_due(510 * kMs));
  interval.taken(1000 * kMs, 1000 * kMs + 1);  // a short one
  EXPECT_FALSE(interval.is_due(1050 * kMs - 1));
  EXPECT_TRUE(interval.is_due(1050 * kMs));
}

TEST(ReadingInterval, IsDueAtOnceAfterRestart) {
  ReadingInterval interval;
  interval.restart(500);
  interval.taken(0, 100 * kMs);
  interval.restart(0);
  EXPECT_TRUE(interval.is_due(1));
}

}  // namespace
}  // namespace kymo::collect
