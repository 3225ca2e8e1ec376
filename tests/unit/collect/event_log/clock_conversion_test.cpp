// SPDX-License-Identifier: Apache-2.0
#include "collect/event_log/clock_conversion.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kymo::collect {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kEpoch = 1'700'000'000 * kSecond;  // current order of magnitude of the wall clock in nanoseconds

TEST(ClockConversion, OneComparisonIsADistance) {
  const ClockConversion clock(ClockPair{100, kEpoch, 5});
  EXPECT_EQ(clock.host_ns(kEpoch), 100);
  EXPECT_EQ(clock.host_ns(kEpoch + 7), 107);
  EXPECT_EQ(clock.host_ns(kEpoch - 200), -100);
}

TEST(ClockConversion, GoesThroughBothComparisons) {
  // The host clock gains 20 µs per hour.
  const ClockPair begin{1000, kEpoch, 0};
  const ClockPair end{1000 + 3600 * kSecond + 20'000, kEpoch + 3600 * kSecond, 0};
  const ClockConversion clock(begin, end);
  EXPECT_EQ(clock.host_ns(kEpoch), 1000);
  EXPECT_NEAR(static_cast<double>(clock.host_ns(kEpoch + 3600 * kSecond) - end.host_ns), 0, 1);
  EXPECT_NEAR(static_cast<double>(clock.host_ns(kEpoch + 1800 * kSecond) - (1000 + 1800 * kSecond + 10'000)), 0, 1);
  EXPECT_NEAR(static_cast<double>(clock.host_ns(kEpoch + 7200 * kSecond) - (1000 + 7200 * kSecond + 40'000)), 0, 2)
      << "beyond them too";
}

TEST(ClockConversion, ASlowHostClockToo) {
  const ClockConversion clock({0, 0, 0}, {kSecond - 1000, kSecond, 0});
  EXPECT_NEAR(static_cast<double>(clock.host_ns(kSecond / 2)), static_cast<double>(kSecond / 2 - 500), 1);
}

TEST(ClockConversion, KeepsTheOrderOfTimes) {
  const ClockConversion clock({0, kEpoch, 0}, {kSecond + 12'345, kEpoch + kSecond, 0});
  std::int64_t before = clock.host_ns(kEpoch - 1);
  for (std::uint64_t t = 0; t < 100'000; ++t) {
    const std::int64_t now = clock.host_ns(kEpoch + t);
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(ClockConversion, ComparisonsThatDoNotFollowEachOtherAreADistance) {
  for (const ClockPair end : {ClockPair{50, 2000, 0}, ClockPair{500, 900, 0}, ClockPair{100, 1000, 0}}) {
    const ClockConversion clock({100, 1000, 0}, end);
    EXPECT_EQ(clock.host_ns(1500), 600) << end.host_ns << ' ' << end.clock_ns;
  }
}

TEST(CompareClocks, KeepsTheNarrowestWindow) {
  // Host clock readings before and after: windows of 100, 10 and 40.
  std::vector<std::int64_t> host{0, 100, 200, 210, 300, 340};
  std::vector<std::int64_t> other{5000, 5150, 5270};
  std::size_t h = 0;
  std::size_t o = 0;
  const auto pair =
      compare_clocks(3, [&] { return host[h++]; }, [&]() -> std::optional<std::int64_t> { return other[o++]; });
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->host_ns, 205);
  EXPECT_EQ(pair->clock_ns, 5150);
  EXPECT_EQ(pair->error_ns, 5);
}

TEST(CompareClocks, ReadingsThatFailAreLeftOut) {
  std::int64_t now = 0;
  int attempt = 0;
  const auto sometimes = [&]() -> std::optional<std::int64_t> {
    return ++attempt == 2 ? std::optional<std::int64_t>(77) : std::nullopt;
  };
  const auto pair = compare_clocks(3, [&] { return now += 10; }, sometimes);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->clock_ns, 77);
  EXPECT_FALSE(compare_clocks(3, [&] { return now; }, [] { return std::optional<std::int64_t>(); }));
}

}  // namespace
}  // namespace kymo::collect
