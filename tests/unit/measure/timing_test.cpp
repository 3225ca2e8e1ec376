// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "base/error.hpp"
#include "measure/plan.hpp"

namespace kymo::measure {
namespace {

using testing::HasSubstr;

class TimingTest : public testing::TestWithParam<Timing> {
 protected:
  std::string validation_error() const { return timing_error(how_, what_, step_); }

  Method how_ = [] {
    Method method;
    method.timing = GetParam();
    return method;
  }();
  Case what_ = [] {
    Case what;
    what.workload = "copy\n";
    return what;
  }();
  StepProperties step_{.phases = 1, .asynchronous = true};
};

TEST_P(TimingTest, TakesAnAsynchronousStepOfOnePhase) { EXPECT_EQ(validation_error(), ""); }

TEST_P(TimingTest, LeavesItToTheStepWhichOfSeveralPhasesItEnters) {
  step_.phases = 3;
  EXPECT_EQ(validation_error(), "");
}

TEST_P(TimingTest, RejectsInOneLineThatSaysWhy) {
  step_.phases = 0;
  EXPECT_THAT(validation_error(), HasSubstr("no phase"));
  EXPECT_EQ(validation_error().find('\n'), std::string::npos);
  step_ = {.phases = 1, .asynchronous = false};
  EXPECT_THAT(validation_error(), HasSubstr("asynchronous"));
  step_.asynchronous = true;
  what_.ranks = 2;
  EXPECT_THAT(validation_error(), HasSubstr("2 ranks"));
  what_.ranks = 1;
  how_.sync = Sync::kPhase;
  EXPECT_THAT(validation_error(), HasSubstr("--sync phase"));
}

INSTANTIATE_TEST_SUITE_P(BothOf, TimingTest, testing::Values(Timing::kHot, Timing::kCold));

TEST(SyncTiming, AsksForNothing) {
  Case what;
  what.ranks = 8;
  Method method;
  method.sync = Sync::kPhase;
  EXPECT_EQ(timing_error(method, what, {.phases = 5, .asynchronous = false}), "");
}

TEST(TimingNames, AreFour) {
  for (const char* name : {"sync", "hot", "cold", "free"}) EXPECT_STREQ(to_string(enum_from<Timing>(name)), name);
  for (const bool in_json : {false, true}) {
    try {
      in_json ? Json("hott").get<Timing>() : enum_from<Timing>("hott");
      FAIL();
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("'hott'; expected one of sync, hot, cold, free; did you mean 'hot'?"));
    }
  }
}

TEST(TimingInAPlan, IsPartOfItsKeyAndOfTheTimePassAlone) {
  Case what;
  what.workload = "copy";
  std::set<std::string> keys;
  for (const Timing timing : {Timing::kSync, Timing::kHot, Timing::kCold}) {
    Method method;
    method.timing = timing;
    keys.insert(equivalence_key({what, method, "", "", 0}, Equivalence::kPlan));
    EXPECT_EQ(method_in(method, Pass::kTime).timing, timing);
    EXPECT_EQ(method_in(method, Pass::kTrace).timing, Timing::kSync);
    EXPECT_EQ(Json(method).get<Method>().timing, timing);
  }
  EXPECT_EQ(keys.size(), 3u);
}

TEST(CountingError, KernelsAreCountedOnOneRank) {
  Method method;
  Case what;
  what.ranks = 2;
  EXPECT_EQ(counting_error(method, what), "");
  method.counter_ranges = CounterRanges::kKernel;
  EXPECT_THAT(counting_error(method, what), HasSubstr("--counter-ranges kernel needs one rank, not 2"));
  what.ranks = 1;
  EXPECT_EQ(counting_error(method, what), "");
}

}  // namespace
}  // namespace kymo::measure
