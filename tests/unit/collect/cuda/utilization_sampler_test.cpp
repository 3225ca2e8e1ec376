// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/utilization_sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/clock.hpp"

namespace kymo::collect {
namespace {

using testing::DoubleEq;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

constexpr int kEvery = 10;  // reading of FailsSometimes that fails

event::GpuUtilization utilization(double sm) {
  event::GpuUtilization made;
  made.sm_utilization = sm;
  return made;
}

class UtilizationSamplerTest : public testing::Test {
 protected:
  /// Samples until `count` readings were taken.
  void sample(UtilizationSampler& sampler, int count) {
    sampler.start();
    while (reads_ < count) std::this_thread::yield();
    sampler.stop();
    sampler.take(record_);
  }

  std::atomic<int> reads_{0};
  event::PassRecord record_;
};

TEST_F(UtilizationSamplerTest, IntervalsFollowEachOther) {
  const std::int64_t start_ns = now_ns();
  UtilizationSampler sampler([&] { return std::optional(utilization(reads_++)); },
                             {.run_start_ns = start_ns, .interval_ns = 10'000});
  sample(sampler, 20);
  const std::int64_t end_ns = now_ns() - start_ns;
  const auto& intervals = record_.gpu_utilization;
  ASSERT_THAT(intervals, SizeIs(static_cast<std::size_t>(reads_ - 1))) << "the first reading begins";
  EXPECT_THAT(intervals.front().sm_utilization, Optional(DoubleEq(1)));
  EXPECT_GE(intervals.front().start_ns, 0);
  EXPECT_LE(intervals.back().end_ns, end_ns);
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    EXPECT_GT(intervals[i].end_ns, intervals[i].start_ns);
    if (i == 0) continue;
    EXPECT_EQ(intervals[i].start_ns, intervals[i - 1].end_ns);
  }
  EXPECT_THAT(record_.dropped_records, IsEmpty());
}

TEST_F(UtilizationSamplerTest, AFailedReadingLeavesAGapAndIsCounted) {
  UtilizationSampler sampler(
      [&]() -> std::optional<event::GpuUtilization> {
        const int read = reads_++;
        if (read % kEvery == kEvery - 1) return std::nullopt;
        return utilization(read);
      },
      {.run_start_ns = now_ns(), .interval_ns = 10'000});
  sample(sampler, 3 * kEvery);
  for (const event::GpuUtilization& interval : record_.gpu_utilization)
    EXPECT_NE(static_cast<int>(*interval.sm_utilization) % kEvery, 0) << "a reading after a failed one only begins";
  ASSERT_THAT(record_.dropped_records, SizeIs(1));
  EXPECT_EQ(record_.dropped_records[0].count, reads_ / kEvery);
}

TEST_F(UtilizationSamplerTest, ManyIntervalsBecomeLongerOnes) {
  const std::int64_t start_ns = now_ns();
  UtilizationSampler sampler(
      [&] {
        event::GpuUtilization made = utilization(0.5);
        if (reads_++ % 2 == 0) made.dram_utilization = 0.25;  // of some intervals only
        return std::optional(made);
      },
      {.run_start_ns = start_ns, .interval_ns = 1'000, .max_intervals = 16});
  sample(sampler, 100);
  const auto& intervals = record_.gpu_utilization;
  ASSERT_LT(intervals.size(), 16U);
  EXPECT_LT(intervals.size(), static_cast<std::size_t>(reads_ - 1));
  for (std::size_t i = 1; i < intervals.size(); ++i) EXPECT_EQ(intervals[i].start_ns, intervals[i - 1].end_ns);
  EXPECT_THAT(intervals.front().sm_utilization, Optional(testing::DoubleNear(0.5, 1e-9)));
  EXPECT_THAT(intervals.front().dram_utilization, Optional(testing::DoubleNear(0.25, 1e-9)))
      << "an interval without the value does not count as 0";
}

TEST_F(UtilizationSamplerTest, NewIntervalsAreAddedOnce) {
  UtilizationSampler sampler([&] { return std::optional(utilization(reads_++)); },
                             {.run_start_ns = now_ns(), .interval_ns = 10'000});
  std::vector<event::GpuUtilization> added;
  sampler.start();
  while (reads_ < 50) sampler.add_new(added);
  sampler.stop();
  sampler.add_new(added);
  sampler.take(record_);
  ASSERT_EQ(added.size(), record_.gpu_utilization.size());
  for (std::size_t i = 0; i < added.size(); ++i)
    EXPECT_EQ(added[i].sm_utilization, record_.gpu_utilization[i].sm_utilization);
}

}  // namespace
}  // namespace kymo::collect
