// SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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
