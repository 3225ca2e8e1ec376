// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/derive.hpp"
#include "unit/analysis/trace_fixture.hpp"

namespace kymo::analysis {
namespace {

/// Calls of 20 µs at intervals of 30 µs, one of which takes longer.
TraceBuilder calls(int count, int slow, std::int64_t slow_ns) {
  TraceBuilder made;
  for (int i = 0; i < count; ++i) {
    const std::int64_t start = 30'000 * i;
    made.activity_at(i, 0, start, start + (i == slow ? slow_ns : 20'000 + i % 3));
  }
  return made;
}

TEST(Outliers, OfNothingAreNone) { EXPECT_TRUE(kernel_outliers({}, {}, {}, 0).empty()); }

TEST(Outliers, AreFarAboveTheirSiblings) {
  const auto made = calls(20, 7, 29'000);
  std::vector<event::GpuSample> samples(3);
  samples[0].time_ns = 900'000;
  samples[0].sm_clock_mhz = 1200;
  samples[1].time_ns = 200'000;
  samples[1].sm_clock_mhz = 1980;
  samples[2].time_ns = 210'000;  // closer, but without a clock reading
  const auto found = kernel_outliers(made.trace, {}, samples, 0);
  ASSERT_EQ(found.size(), 0u);  // 29 µs is less than 1.5 times 20 µs
  const auto slower = calls(20, 7, 30'002);
  const auto outliers = kernel_outliers(slower.trace, {}, samples, 0);
  ASSERT_EQ(outliers.size(), 1u);
  EXPECT_EQ(outliers[0].sequence, 7);
  EXPECT_EQ(outliers[0].group_size, 20);
  EXPECT_EQ(outliers[0].group_median_ns, 20'001);
  EXPECT_DOUBLE_EQ(outliers[0].deviation, 10'001 / 200.01);
  EXPECT_FALSE(outliers[0].first_use);
  EXPECT_EQ(outliers[0].gap_before_ns, 10'000);
  EXPECT_EQ(outliers[0].concurrent, 1);  // the next call began 2 ns before it ended
  EXPECT_EQ(outliers[0].sm_clock_mhz, 1980);
}

TEST(Outliers, NeedEnoughSiblingsAndEnoughTime) {
  EXPECT_TRUE(kernel_outliers(calls(7, 3, 90'000).trace, {}, {}, 0).empty());
  EXPECT_EQ(kernel_outliers(calls(8, 3, 90'000).trace, {}, {}, 0).size(), 1u);
  EXPECT_TRUE(kernel_outliers(calls(20, 3, 90'000).trace, {}, {}, 4).empty());  // warm-up
  TraceBuilder brief;
  for (int i = 0; i < 20; ++i) brief.activity_at(0, 0, 10'000 * i, 10'000 * i + (i == 4 ? 5'999 : 1'000));
  EXPECT_TRUE(kernel_outliers(brief.trace, {}, {}, 0).empty());
  brief.trace.activities[4].end_ns += 1;
  EXPECT_EQ(kernel_outliers(brief.trace, {}, {}, 0).size(), 1u);
}

TEST(Outliers, CompareWithinShapePhaseAndModule) {
  TraceBuilder made;
  for (int i = 0; i < 16; ++i) made.scope("block_" + std::to_string(i), 0, 1);
  for (int i = 0; i < 16; ++i) {
    auto& activity = made.activity_at(0, 0, 30'000 * i, 30'000 * i + (i == 12 ? 60'000 : 20'000));
    activity.scope = made.trace.ranges[static_cast<std::size_t>(i)].path;  // different layers of the same module
  }
  EXPECT_EQ(kernel_outliers(made.trace, {}, {}, 0).size(), 1u);
  made.trace.activities[12].shape = 1;
  EXPECT_TRUE(kernel_outliers(made.trace, {}, {}, 0).empty());
  made.trace.activities[12].shape = 0;
  made.trace.activities[12].phase = 1;
  EXPECT_TRUE(kernel_outliers(made.trace, {}, {}, 0).empty());
}

TEST(Outliers, LeaveOutCommunication) {
  const auto made = calls(20, 7, 90'000);
  EXPECT_EQ(kernel_outliers(made.trace, {}, {}, 0).size(), 1u);
  std::vector<bool> communicates(made.trace.texts.size() + 1, false);
  communicates[made.trace.activities[7].name] = true;
  EXPECT_TRUE(kernel_outliers(made.trace, communicates, {}, 0).empty());
}

TEST(Outliers, SayWhatRanBesideThemAndWhoWasFirst) {
  TraceBuilder made;
  made.activity_at(0, 0, 0, 400'000, "ncclDevKernel");
  made.activity_at(0, 0, 1'000, 80'000);  // the first of its name, and slow
  made.activity_at(0, 0, 79'999, 81'000, "memcpy", event::ActivityKind::kMemcpy);
  made.activity_at(0, 0, 80'000, 80'500, "after");
  for (int i = 0; i < 12; ++i) made.activity_at(0, 0, 500'000 + 30'000 * i, 520'000 + 30'000 * i);
  const auto outliers = kernel_outliers(made.trace, {}, {}, 0);
  ASSERT_EQ(outliers.size(), 1u);
  EXPECT_TRUE(outliers[0].first_use);
  EXPECT_EQ(outliers[0].concurrent, 2);
  EXPECT_EQ(outliers[0].gap_before_ns, 0);
  EXPECT_FALSE(outliers[0].sm_clock_mhz.has_value());
}

TEST(Outliers, KeepTheWorst) {
  TraceBuilder made;
  for (int i = 0; i < 1000; ++i)
    made.activity_at(0, 0, 1'000'000 * i, 1'000'000 * i + (i < 150 ? 100'000 + 1'000 * i : 20'000));
  const auto outliers = kernel_outliers(made.trace, {}, {}, 0);
  ASSERT_EQ(outliers.size(), kMaxOutliers);
  EXPECT_EQ(outliers.front().sequence, 50);
  EXPECT_EQ(outliers.back().sequence, 149);
}

TEST(Outliers, AmongCallsThatLastNoTime) {
  TraceBuilder made;
  for (int i = 0; i < 20; ++i) made.activity_at(0, 0, 10'000 * i, 10'000 * i + (i == 5 ? 6'000 : 0));
  const auto outliers = kernel_outliers(made.trace, {}, {}, 0);
  ASSERT_EQ(outliers.size(), 1u);
  EXPECT_EQ(outliers[0].group_median_ns, 0);
  EXPECT_DOUBLE_EQ(outliers[0].deviation, 6000);
}

}  // namespace
}  // namespace kymo::analysis
