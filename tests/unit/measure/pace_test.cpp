// SPDX-License-Identifier: Apache-2.0
#include "measure/pace.hpp"

#include <gtest/gtest.h>

namespace kymo::measure {
namespace {

Method method(std::int64_t warmup, std::int64_t steps, double max_pass_time_s) {
  Method result;
  result.warmup = warmup;
  result.steps = steps;
  result.max_pass_time_s = max_pass_time_s;
  return result;
}

Pace after(const Method& method, std::initializer_list<double> steps_s) {
  Pace pace(method);
  for (const double step_s : steps_s) pace.add(step_s);
  return pace;
}

TEST(Pace, SaysHowLongAStepAndThePassTake) {
  EXPECT_EQ(after(method(5, 120, 60), {41.2, 41}).problem(),
            "too slow: a step takes 41 s, so that 125 steps would take 1 h 25 min; a pass may take 1 min "
            "(--max-pass-time)");
}

TEST(Pace, ASlowFirstStepIsNoReason) {
  EXPECT_EQ(after(method(5, 120, 60), {50}).problem(), "") << "a single step may include compilation";
  EXPECT_EQ(after(method(5, 120, 60), {50, 0.05}).problem(), "");
  EXPECT_NE(after(method(5, 120, 60), {50, 0.1}).problem(), "") << "62.4 s";
}

TEST(Pace, APauseIsNoReason) {
  EXPECT_EQ(after(method(0, 10000, 60), {0.001, 0.001, 9}).problem(), "") << "the fastest step counts";
  EXPECT_EQ(after(method(0, 10000, 60), {1.4, 1.4}).problem(), "") << "less than a twentieth of the limit";
  EXPECT_NE(after(method(0, 10000, 60), {1.5, 1.5}).problem(), "");
}

TEST(Pace, APassThatEndsExactlyInTimeFits) {
  EXPECT_EQ(after(method(0, 4, 8), {2, 2}).problem(), "");
  EXPECT_NE(after(method(0, 4, 7.9), {2, 2}).problem(), "");
  EXPECT_EQ(after(method(0, 2, 1), {2, 2}).problem(), "") << "nothing is left to be saved";
}

TEST(Pace, AStoppingRuleCountsWithItsFewestSteps) {
  Method rule = method(2, 0, 60);
  rule.until = StoppingRule{};
  EXPECT_EQ(after(rule, {5, 5}).problem(), "") << "12 steps";
  EXPECT_EQ(after(rule, {6, 6}).problem(),
            "too slow: a step takes 6 s, so that at least 12 steps would take 1 min 12 s; a pass may take 1 min "
            "(--max-pass-time)");
}

TEST(TimeText, IsInTheUnitsOfClocks) {
  EXPECT_EQ(time_text(0.25), "250 ms");
  EXPECT_EQ(time_text(3), "3 s");
  EXPECT_EQ(time_text(2.5), "2.50 s");
  EXPECT_EQ(time_text(41.4), "41 s");
  EXPECT_EQ(time_text(60), "1 min");
  EXPECT_EQ(time_text(85), "1 min 25 s");
  EXPECT_EQ(time_text(7500), "2 h 5 min");
  EXPECT_EQ(time_text(3600), "1 h");
}

}  // namespace
}  // namespace kymo::measure
