// SPDX-License-Identifier: Apache-2.0
#include "measure/ratio_text.hpp"

#include <gtest/gtest.h>

namespace kymo::measure {
namespace {

TEST(RatioText, IsInPercentOfTheTimeBelowAFactorOfOneAndAHalf) {
  EXPECT_EQ(ratio_text(0.949), "5.1 % faster");
  EXPECT_EQ(ratio_text(1.051), "5.1 % slower");
  EXPECT_EQ(ratio_text(0.9957), "0.43 % faster");
  EXPECT_EQ(ratio_text(1), "0.00 % slower");
  EXPECT_EQ(ratio_text(1.499), "49.9 % slower");
  EXPECT_EQ(ratio_text(1 / 1.499), "33.3 % faster");
}

TEST(RatioText, IsAFactorFromOneAndAHalfOn) {
  EXPECT_EQ(ratio_text(1.5), "1.50 times as long");
  EXPECT_EQ(ratio_text(1 / 1.97), "1.97 times as fast");
  EXPECT_EQ(ratio_text(2.09), "2.09 times as long") << "109 % slower";
  EXPECT_EQ(ratio_text(1 / 0.0612), "16.3 times as long") << "0.0612 times as fast";
  EXPECT_EQ(ratio_text(0.001), "1000 times as fast");
}

TEST(RatioText, Predicates) {
  EXPECT_EQ(ratio_predicate(0.949), "is 5.1 % faster than");
  EXPECT_EQ(ratio_predicate(0.5), "is 2.00 times as fast as");
  EXPECT_EQ(ratio_predicate(1.051), "is 5.1 % slower than");
  EXPECT_EQ(ratio_predicate(2), "takes 2.00 times as long as");
  EXPECT_EQ(ratio_predicate(2, false), "measured 2.00 times as long as");
  EXPECT_EQ(ratio_predicate(0.949, false), "measured 5.1 % faster than");
}

TEST(RatioText, RangesAscendInOneUnit) {
  EXPECT_EQ(ratio_range_text(0.94, 0.958), "4.2 to 6.0 % faster");
  EXPECT_EQ(ratio_range_text(1.01, 1.2), "1.0 to 20.0 % slower");
  EXPECT_EQ(ratio_range_text(1 / 0.0676, 1 / 0.0612), "14.8 to 16.3 times as long");
  EXPECT_EQ(ratio_range_text(0.05, 0.95), "1.05 to 20.0 times as fast") << "in the unit of the larger end";
  EXPECT_EQ(ratio_range_text(0.996, 1.003), "0.40 % faster to 0.30 % slower");
  EXPECT_EQ(ratio_range_text(0.9, 3), "10.0 % faster to 3.00 times as long");
  EXPECT_EQ(ratio_range_text(0.2, 0.2), "5.00 times as fast") << "one ratio";
}

TEST(RatioText, IntervalsHaveTheUnitOfTheNumber) {
  EXPECT_EQ(ratio_interval_text(0.949, 0.94, 0.958), "4.2 to 6.0 %");
  EXPECT_EQ(ratio_interval_text(2.5, 2.3, 2.7), "2.30 to 2.70 times");
  EXPECT_EQ(ratio_interval_text(0.5, 0.4, 0.625), "1.60 to 2.50 times");
  EXPECT_EQ(ratio_interval_text(1.45, 1.4, 1.6), "40.0 to 60.0 %") << "crosses a factor of 1.5";
  EXPECT_EQ(ratio_interval_text(1.55, 1.4, 1.6), "1.40 to 1.60 times");
  EXPECT_EQ(ratio_interval_text(1.05, 0.98, 1.1), "2.0 % faster to 10.0 % slower") << "includes 1";
  EXPECT_EQ(ratio_interval_text(0.999, 1.01, 1.02), "1.0 to 2.0 % slower") << "on the other side";
}

}  // namespace
}  // namespace kymo::measure
