// SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/error.hpp"

namespace kymo::measure {
namespace {

TEST(Statistics, AgreesWithAWorkedExample) {
  const Statistics s = summarize({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(s.count, 8);
  EXPECT_DOUBLE_EQ(s.mean, 5);
  EXPECT_DOUBLE_EQ(*s.std, std::sqrt(32.0 / 7));
  EXPECT_DOUBLE_EQ(s.median, 4.5);
  EXPECT_DOUBLE_EQ(s.min, 2);
  EXPECT_DOUBLE_EQ(s.max, 9);
  // t(0.975, 7) = 2.364624 (table of Student's t)
  EXPECT_NEAR(*s.ci_high - s.mean, 2.364624 * std::sqrt(32.0 / 7) / std::sqrt(8.0), 1e-5);
  EXPECT_NEAR(*s.ci_low + *s.ci_high, 10, 1e-9);
  EXPECT_FALSE(s.p95);
}

TEST(Statistics, OneSampleHasNoSpread) {
  const Statistics s = summarize({3});
  EXPECT_EQ(s.count, 1);
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_FALSE(s.std);
  EXPECT_FALSE(s.ci_low);
  EXPECT_FALSE(s.median_low);
  EXPECT_FALSE(s.median_high);
  EXPECT_FALSE(s.median_confidence);
}

struct TableRow {
  std::size_t count, low;
  double confidence;
};

class MedianIntervals : public testing::TestWithParam<TableRow> {};

// The sign test's table: 1-based ranks and levels as printed in textbooks, here with 0-based indices.
TEST_P(MedianIntervals, AgreeWithTheTableOfTheSignTest) {
  const MedianInterval interval = median_interval(GetParam().count);
  EXPECT_EQ(interval.low, GetParam().low);
  EXPECT_EQ(interval.high, GetParam().count - 1 - GetParam().low);
  EXPECT_NEAR(interval.confidence, GetParam().confidence, 5e-5);
}

INSTANTIATE_TEST_SUITE_P(Counts, MedianIntervals,
                         testing::Values(TableRow{2, 0, 0.5}, TableRow{3, 0, 0.75}, TableRow{5, 0, 0.9375},
                                         TableRow{6, 0, 0.96875}, TableRow{8, 0, 0.9922}, TableRow{9, 1, 0.9609},
                                         TableRow{10, 1, 0.9785}, TableRow{20, 5, 0.9586}, TableRow{100, 39, 0.9648}));

TEST(MedianInterval, IsTheNarrowestAtItsLevel) {
  for (std::size_t count = 6; count <= 1000; ++count) {
    // The probabilities that 0, 1, 2 ... samples are below the median, summed term by term.
    double term = std::exp2(-static_cast<double>(count)), outside = term;
    std::size_t low = 0;
    for (;; ++low) {
      term *= static_cast<double>(count - low) / static_cast<double>(low + 1);
      if (2 * (outside + term) > 0.05) break;
      outside += term;
    }
    const MedianInterval interval = median_interval(count);
    ASSERT_EQ(interval.low, low) << count;
    ASSERT_NEAR(interval.confidence, 1 - 2 * outside, 1e-9) << count;
  }
}

TEST(MedianInterval, OfManySamplesIsThatOfTheNormalApproximation) {
  // 1e6 / 2 - 1.96 * 1000 / 2, to half a rank
  EXPECT_NEAR(static_cast<double>(median_interval(1'000'000).low), 499'019.5, 1);
}

TEST(MedianInterval, HasItsTwoBoundsInTheSamples) {
  const Statistics s = summarize({9, 1, 8, 2, 7, 3, 6, 4, 5, 1000});
  EXPECT_EQ(*s.median_low, 2);
  EXPECT_EQ(*s.median_high, 9);
}

/// The share of intervals from `count` samples of a distribution that contain its median.
template <typename Distribution>
double coverage(Distribution distribution, double median, std::size_t count) {
  std::mt19937_64 random(1);
  constexpr int kTrials = 4000;
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> samples(count);
    for (double& sample : samples) sample = distribution(random);
    const Statistics s = summarize(samples);
    covered += *s.median_low <= median && median <= *s.median_high;
  }
  return static_cast<double>(covered) / kTrials;
}

TEST(MedianInterval, CoversTheMedianOfAnyDistribution) {
  // Four standard errors of a share of 4000 trials are 0.021 at 0.875 and 0.014 at 0.95.
  for (const std::size_t count : std::array<std::size_t, 4>{4, 10, 33, 200}) {
    const double level = median_interval(count).confidence;
    EXPECT_NEAR(coverage(std::normal_distribution<double>(10, 3), 10, count), level, 0.021) << count;
    EXPECT_NEAR(coverage(std::lognormal_distribution<double>(1, 2), std::exp(1.0), count), level, 0.021) << count;
    EXPECT_NEAR(coverage(std::exponential_distribution<double>(1), std::log(2.0), count), level, 0.021) << count;
  }
}

TEST(Statistics, P95OnlyFromAHundredSamplesOn) {
  std::vector<double> samples;
  for (int i = 1; i <= 99; ++i) samples.push_back(i);
  EXPECT_FALSE(summarize(samples).p95);
  samples.push_back(100);
  EXPECT_NEAR(*summarize(samples).p95, 95.05, 1e-9);
}

TEST(Statistics, NoSamplesIsAnError) { EXPECT_THROW(summarize({}), Error); }

TEST(Statistics, RelativeStandardErrorNeedsTwoSamples) {
  EXPECT_EQ(relative_standard_error({1}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(relative_standard_error({-1, 1}), std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(relative_standard_error({5, 5, 5}), 0);
  EXPECT_NEAR(relative_standard_error({9, 11}), std::sqrt(2.0) / std::sqrt(2.0) / 10, 1e-12);
}

}  // namespace
}  // namespace kymo::measure
