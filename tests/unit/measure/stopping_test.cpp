// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "measure/statistics.hpp"

namespace kymo::measure {
namespace {

StoppingRule rule(double bound, std::int64_t least, std::int64_t most = 1000, double seconds = 60) {
  return {bound, least, most, 0, seconds};
}

TEST(Stopping, AgreesWithTheErrorOverAllSamples) {
  const std::vector<double> samples{1e9 + 3, 1e9 + 1, 1e9 + 7, 1e9 - 4, 1e9};
  Stopping stopping(rule(0.01, 2));
  for (const double sample : samples) stopping.add(sample, 1);
  EXPECT_NEAR(stopping.relative_standard_error() / relative_standard_error(samples), 1.0, 1e-6);
}

TEST(Stopping, IsNotEnoughWithoutASample) {
  const Stopping stopping(rule(1e9, 0, 0, 0));
  EXPECT_FALSE(stopping.enough(1e9));
  EXPECT_TRUE(std::isinf(stopping.relative_standard_error()));
}

TEST(Stopping, OneSampleHasNoError) {
  Stopping stopping(rule(0.5, 1));
  stopping.add(5, 1);
  EXPECT_FALSE(stopping.enough(0));
}

TEST(Stopping, WaitsForTheLeastNumberOfSamples) {
  Stopping stopping(rule(0.01, 4));
  for (int i = 0; i < 3; ++i) {
    stopping.add(100, 1);
    EXPECT_FALSE(stopping.enough(0)) << i;
  }
  stopping.add(100, 1);
  EXPECT_TRUE(stopping.enough(0));
}

TEST(Stopping, GoesOnWhileTheMeanIsUncertain) {
  Stopping stopping(rule(0.05, 2));
  stopping.add(50, 1);
  stopping.add(150, 1);
  EXPECT_FALSE(stopping.enough(0));
  for (int i = 0; i < 2000 && !stopping.enough(0); ++i) stopping.add(i % 2 ? 99 : 101, 1);
  EXPECT_TRUE(stopping.enough(0));
  EXPECT_LE(stopping.relative_standard_error(), 0.05);
}

TEST(Stopping, CapsEndAnUncertainMeasurement) {
  Stopping by_count(rule(1e-9, 2, 3));
  Stopping by_time(rule(1e-9, 2, 1000, 2.5));
  for (const double sample : {10.0, 1000.0}) {
    by_count.add(sample, 1);
    by_time.add(sample, 1);
  }
  EXPECT_FALSE(by_count.enough(0));
  by_count.add(500, 1);
  EXPECT_TRUE(by_count.enough(0));
  EXPECT_FALSE(by_time.enough(2.4));
  EXPECT_TRUE(by_time.enough(2.5));
  EXPECT_FALSE(by_time.is_precise());
}

TEST(Stopping, MeasuresForTheLeastTimeByDefault) {
  Stopping stopping{StoppingRule{}};
  for (int i = 0; i < 49; ++i) {
    stopping.add(100e6 / (i + 1), 0.01e9);
    EXPECT_FALSE(stopping.enough(1)) << i;
  }
  stopping.add(1, 0.01e9);
  EXPECT_TRUE(stopping.enough(1)) << "50 steps of 10 ms, whatever their precision";
  EXPECT_TRUE(stopping.is_precise());
}

TEST(Stopping, MeasuresTenLongStepsWhateverTheTime) {
  Stopping stopping{StoppingRule{}};
  for (int i = 0; i < 9; ++i) stopping.add(30e9, 30e9);
  EXPECT_FALSE(stopping.enough(270));
  stopping.add(30e9, 30e9);
  EXPECT_TRUE(stopping.enough(300));
}

TEST(Stopping, GivesUpOnShortSteps) {
  Stopping by_count{StoppingRule{}}, by_time{StoppingRule{}};
  for (int i = 0; i < 9'999; ++i) by_count.add(10, 10);
  EXPECT_FALSE(by_count.enough(0.1));
  by_count.add(10, 10);
  EXPECT_TRUE(by_count.enough(0.1));
  for (int i = 0; i < 10; ++i) by_time.add(10, 10);
  EXPECT_FALSE(by_time.enough(59));
  EXPECT_TRUE(by_time.enough(60)) << "the time between steps counts here";
}

TEST(Stopping, MeasuresForTheLeastTimeAndUntilTheMeanIsCertain) {
  Stopping stopping{StoppingRule{.relative_standard_error = 0.5, .min_samples = 2}};
  stopping.add(100, 1e8);
  stopping.add(101, 1e8);
  EXPECT_TRUE(stopping.is_precise());
  EXPECT_FALSE(stopping.enough(0.2));
  stopping.add(100, 4e8);
  EXPECT_TRUE(stopping.enough(0.6));
}

TEST(Stopping, AMeanOfZeroIsNeverCertain) {
  Stopping stopping(rule(0.5, 2, 10));
  for (int i = 0; i < 5; ++i) stopping.add(0, 1);
  EXPECT_FALSE(stopping.enough(0));
}

}  // namespace
}  // namespace kymo::measure
