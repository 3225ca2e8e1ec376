// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <kymo/verification.hpp>
#include <limits>

namespace {

using kymo::Outcome;
using kymo::Verification;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

kymo::Check compared(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance) {
  return Verification{}.compare("x", "reference", actual, expected, tolerance).checks().at(0);
}

TEST(Verification, ComparesElementwise) {
  const kymo::Check near = compared({1.0, 1000.5}, {1.0, 1000.0}, 1e-3);
  EXPECT_EQ(near.outcome, Outcome::Passed) << "0.5 of 1000 is within 1e-3";
  EXPECT_DOUBLE_EQ(near.deviation.max_abs, 0.5);
  EXPECT_DOUBLE_EQ(near.deviation.max_rel, 0.5 / 1000);
  EXPECT_EQ(near.tolerance, 1e-3);
  const kymo::Check far = compared({1.5, 1000.0}, {1.0, 1000.0}, 1e-3);
  EXPECT_EQ(far.outcome, Outcome::Failed);
  EXPECT_EQ(far.detail, "1 of 2 elements differ; the worst is [0] = 1.5, expected 1");
}

TEST(Verification, NamesTheElementThatExceedsTheToleranceMost) {
  EXPECT_EQ(compared({1, 2.5, 1000.75, 4}, {1, 2, 1000, 4}, 1e-6).detail,
            "2 of 4 elements differ; the worst is [1] = 2.5, expected 2")
      << "the tolerance of elements above 1 is relative";
  EXPECT_EQ(compared({9, 1, kNan}, {1, 1, 1}, 1e-6).detail,
            "2 of 3 elements differ; the worst is [2] = nan, expected 1");
}

TEST(Verification, ToleranceIsAbsoluteNearZero) {
  EXPECT_EQ(compared({1e-7}, {0.0}, 1e-6).outcome, Outcome::Passed);
  EXPECT_EQ(compared({1e-5}, {0.0}, 1e-6).outcome, Outcome::Failed);
}

TEST(Verification, NeverPassesNanOrInfinityForANumber) {
  EXPECT_EQ(compared({kNan}, {1.0}, 1e9).outcome, Outcome::Failed);
  EXPECT_EQ(compared({1.0}, {kNan}, 1e9).outcome, Outcome::Failed);
  EXPECT_EQ(compared({kInfinity}, {1.0}, 1e9).outcome, Outcome::Failed);
  EXPECT_EQ(compared({kInfinity}, {-kInfinity}, 1e9).outcome, Outcome::Failed);
  EXPECT_EQ(compared({kInfinity, kNan}, {kInfinity, kNan}, 0).outcome, Outcome::Passed);
  EXPECT_EQ(Verification{}.within("x", "r", {kNan, kNan}, 1).checks()[0].outcome, Outcome::Failed);
}

TEST(Verification, RejectsOtherLengths) {
  const kymo::Check check = compared({1, 2}, {1}, 1);
  EXPECT_EQ(check.outcome, Outcome::Failed);
  EXPECT_EQ(check.detail, "2 elements, expected 1");
}

TEST(Verification, TakesAnyIndexedSequences) {
  const std::array<float, 2> actual{1, 2};
  const int expected[] = {1, 2};
  EXPECT_EQ(Verification{}.compare("x", "r", actual, expected, 0).checks()[0].outcome, Outcome::Passed);
}

TEST(Verification, HoldsSeveralChecksOrAReason) {
  const auto two = Verification{}.that(true, "a", "r").that(false, "b", "r", "why");
  ASSERT_EQ(two.checks().size(), 2u);
  EXPECT_EQ(two.checks()[1].detail, "why");
  const auto none = Verification::unavailable("too large");
  ASSERT_EQ(none.checks().size(), 1u);
  EXPECT_EQ(none.checks()[0].outcome, Outcome::Unavailable);
  EXPECT_EQ(none.checks()[0].detail, "too large");
}

}  // namespace
