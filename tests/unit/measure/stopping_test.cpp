// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "measure/statistics.hpp"

namespace kymo::measure {
namespace {

StoppingRule rule(double bound, std::int64_t least, std::int64_t most = 1000, double seconds = 60) {
  return {bound, least, most, seconds};
}

TEST(Stopping, AgreesWithTheErrorOverAllSamples) {
  const std::vector<double> samples{1e9 + 3, 1e9 + 1, 1e9 + 7, 1e9 - 4, 1e9};
  Stopping stopping(rule(0.01, 2));
  for (const double sample : samples) stopping.add(sample);
  EXPECT_NEAR(stopping.relative_standard_error() / relative_standard_error(samples), 1.0, 1e-6);
}

TEST(Stopping, IsNotEnoughWithoutASample) {
  const Stopping stopping(rule(1e9, 0, 0, 0));
  EXPECT_FALSE(stopping.enough(1e9));
  EXPECT_TRUE(std::isinf(stopping.relative_standard_error()));
}

TEST(Stopping, OneSampleHasNoError) {
  Stopping stopping(rule(0.5, 1));
  stopping.add(5);
  EXPECT_FALSE(stopping.enough(0));
}

TEST(Stopping, WaitsForTheLeastNumberOfSamples) {
  Stopping stopping(rule(0.01, 4));
  for (int i = 0; i < 3; ++i) {
    stopping.add(100);
    EXPECT_FALSE(stopping.enough(0)) << i;
  }
  stopping.add(100);
  EXPECT_TRUE(stopping.enough(0));
}

TEST(Stopping, GoesOnWhileTheMeanIsUncertain) {
  Stopping stopping(rule(0.05, 2));
  stopping.add(50);
  stopping.add(150);
  EXPECT_FALSE(stopping.enough(0));
  for (int i = 0; i < 2000 && !stopping.enough(0); ++i) stopping.add(i % 2 ? 99 : 101);
  EXPECT_TRUE(stopping.enough(0));
  EXPECT_LE(stopping.relative_standard_error(), 0.05);
}

TEST(Stopping, CapsEndAnUncertainMeasurement) {
  Stopping by_count(rule(1e-9, 2, 3));
  Stopping by_time(rule(1e-9, 50, 1000, 2.5));
  for (const double sample : {10.0, 1000.0}) {
    by_count.add(sample);
    by_time.add(sample);
  }
  EXPECT_FALSE(by_count.enough(0));
  by_count.add(500);
  EXPECT_TRUE(by_count.enough(0));
  EXPECT_FALSE(by_time.enough(2.4));
  EXPECT_TRUE(by_time.enough(2.5));
}

TEST(Stopping, AMeanOfZeroIsNeverCertain) {
  Stopping stopping(rule(0.5, 2, 10));
  for (int i = 0; i < 5; ++i) stopping.add(0);
  EXPECT_FALSE(stopping.enough(0));
}

}  // namespace
}  // namespace kymo::measure
