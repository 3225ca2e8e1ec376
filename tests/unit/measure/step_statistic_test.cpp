// SPDX-License-Identifier: Apache-2.0
#include "measure/step_statistic.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kymo::measure {
namespace {

using enum StepStatistic;

/// `count` steps of 10 ms, each `every`-th of them replaced by `other`, and 1 % of regular variation.
std::vector<double> steps(std::size_t count, std::size_t every, double other) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i)
    samples.push_back((i % every == every - 1 ? other : 10.0) * (1 + 0.01 * static_cast<double>(i % 3)));
  return samples;
}

StepStatistic of(const std::vector<double>& samples, Timing timing = Timing::kSync, bool waited = false) {
  return statistic_of_run(timing, waited, summarize(samples));
}

TEST(StepStatistic, OfAProgramIsAlwaysTheMean) {
  EXPECT_EQ(of(steps(100, 1000, 0), Timing::kFree), kMean);
  EXPECT_EQ(of(steps(60, 10, 400), Timing::kFree), kMean);
  EXPECT_EQ(of({10}, Timing::kFree), kMean);
  EXPECT_EQ(of(steps(60, 10, 400), Timing::kFree, true), kMean) << "users pay for waiting, too";
}

TEST(StepStatistic, OfAWorkloadIsTheMedianIfItsStepsAreAlike) {
  EXPECT_EQ(of(steps(100, 1000, 0)), kMedian);
  EXPECT_EQ(of(steps(100, 10, 13)), kMedian) << "3 % of the time";
  EXPECT_EQ(of({10}), kMedian);
  EXPECT_EQ(of({10, 1000}), kMedian);
}

TEST(StepStatistic, OfAWorkloadWithRecurringSlowOrFastStepsIsTheMean) {
  EXPECT_EQ(of(steps(60, 10, 400)), kMean);
  EXPECT_EQ(of(steps(100, 5, 20)), kMean);
  EXPECT_EQ(of(steps(100, 3, 1)), kMean) << "a third of the steps are fast: the mean is 7 ms";
}

TEST(StepStatistic, OneSlowStepOrOneBurstKeepsTheMedian) {
  for (const std::size_t count : {5, 10, 30, 100, 1000}) {
    for (const double outlier : {20.0, 100.0, 1e4, 1e7}) {
      std::vector<double> samples = steps(count, count + 1, 0);
      samples[count / 3] = outlier;
      EXPECT_EQ(of(samples), kMedian) << count << " steps, one of " << outlier;
    }
  }
  std::vector<double> samples = steps(1000, 1001, 0);
  for (std::size_t i = 300; i < 330; ++i) samples[i] = 100;
  EXPECT_TRUE(disagree(summarize(samples).mean, summarize(samples).median));
  EXPECT_EQ(of(samples), kMedian) << "30 consecutive slow steps are one disturbance";
}

TEST(StepStatistic, KernelsMeasuredOneByOneKeepTheMedian) {
  EXPECT_EQ(of(steps(60, 10, 400), Timing::kHot), kMedian);
  EXPECT_EQ(of(steps(60, 10, 400), Timing::kCold), kMedian);
  EXPECT_EQ(of(steps(60, 10, 400), Timing::kSync, true), kMedian) << "other processes can be the cause";
}

TEST(StepStatistic, OfAComparisonIsTheMeanIfMostRunsOfASideNeedIt) {
  EXPECT_EQ(common_statistic({{kMedian, kMedian}, {kMedian}}), kMedian);
  EXPECT_EQ(common_statistic({{kMedian, kMedian, kMean}, {kMedian}}), kMedian);
  EXPECT_EQ(common_statistic({{kMedian, kMean}, {kMedian}}), kMedian);
  EXPECT_EQ(common_statistic({{kMedian, kMean, kMean}, {kMedian}}), kMean);
  EXPECT_EQ(common_statistic({{kMedian}, {kMean}}), kMean);
  EXPECT_EQ(common_statistic({{}, {}}), kMedian);
}

TEST(UnlikeSteps, AreCountedWithTheirTime) {
  const UnlikeSteps found = unlike_steps({2, 2, 2, 2, 2, 2, 2, 2, 1, 80}, 2);
  EXPECT_EQ(found.slow, 1);
  EXPECT_EQ(found.slow_total, 80);
  EXPECT_EQ(found.fast, 1);
  EXPECT_EQ(found.fast_total, 1);
  EXPECT_EQ(unlike_steps({2, 3, 2 / 1.5}, 2).slow, 0) << "not more than 1.5 times the median";
  EXPECT_EQ(unlike_steps({2, 3, 2 / 1.5}, 2).fast, 0);
}

TEST(OftenBusy, MeansThatTheLoopWasSlowForMostOfAQuarterOfTheRuns) {
  const LoopTimes quiet{10, 10.2}, busy{10, 18}, always{18, 18};
  EXPECT_FALSE(often_busy({}));
  EXPECT_FALSE(often_busy({quiet, quiet, quiet, quiet, busy}));
  EXPECT_TRUE(often_busy({quiet, quiet, quiet, busy}));
  EXPECT_TRUE(often_busy({quiet, quiet, quiet, always}));
  EXPECT_FALSE(often_busy({always, always, always})) << "nothing tells a busy machine from a slow one";
  std::vector<LoopTimes> runs(40, LoopTimes{10, 10.2});
  runs[0] = {8, 8};
  EXPECT_FALSE(often_busy(runs)) << "a clock that was higher in one of forty runs";
}

TEST(Undisturbed, AreTheRunsCloseToTheFastest) {
  EXPECT_EQ(undisturbed({}), std::vector<double>{});
  EXPECT_EQ(undisturbed({5}), std::vector<double>{5});
  EXPECT_EQ(undisturbed({140, 104, 100, 111, 109.9}), (std::vector<double>{104, 100, 109.9}));
}

}  // namespace
}  // namespace kymo::measure
