// SPDX-License-Identifier: Apache-2.0
#include "measure/mode.hpp"

#include <gmock/gmock.h>

#include <set>

#include "base/error.hpp"

namespace kymo::measure {
namespace {

using testing::HasSubstr;

class Mode : public testing::TestWithParam<const char*> {
 protected:
  std::string objection() const { return mode_objection(how_, what_, step_); }

  Method how_ = [] {
    Method how;
    how.mode = GetParam();
    return how;
  }();
  Case what_ = [] {
    Case what;
    what.workload = "copy\n";
    return what;
  }();
  StepNature step_{.phases = 1, .asynchronous = true};
};

TEST_P(Mode, TakesAnAsynchronousStepOfOnePhase) { EXPECT_EQ(objection(), ""); }

TEST_P(Mode, LeavesItToTheStepWhichOfSeveralPhasesItEnters) {
  step_.phases = 3;
  EXPECT_EQ(objection(), "");
}

TEST_P(Mode, RefusesInOneLineThatSaysWhy) {
  step_.phases = 0;
  EXPECT_THAT(objection(), HasSubstr("no phase"));
  EXPECT_EQ(objection().find('\n'), std::string::npos);
  step_ = {.phases = 1, .asynchronous = false};
  EXPECT_THAT(objection(), HasSubstr("asynchronous"));
  step_.asynchronous = true;
  what_.ranks = 2;
  EXPECT_THAT(objection(), HasSubstr("2 ranks"));
  what_.ranks = 1;
  how_.sync = Sync::kPhase;
  EXPECT_THAT(objection(), HasSubstr("--sync phase"));
}

INSTANTIATE_TEST_SUITE_P(BothOf, Mode, testing::Values(kHotMode, kColdMode));

TEST(SyncMode, AsksForNothing) {
  Case what;
  what.ranks = 8;
  Method how;
  how.sync = Sync::kPhase;
  EXPECT_EQ(mode_objection(how, what, {.phases = 5, .asynchronous = false}), "");
}

TEST(ModeWords, AreThree) {
  for (const char* word : {"sync", "hot", "cold"}) EXPECT_EQ(mode_from(word), word);
  try {
    mode_from("hott");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'hot'"));
  }
  Method how;
  how.mode = "warm";
  EXPECT_THAT(mode_objection(how, {}, {.phases = 1, .asynchronous = true}), HasSubstr("sync, hot, cold"));
}

TEST(ModeInAPlan, IsPartOfItsKeyAndOfTheTimePassAlone) {
  Case what;
  what.workload = "copy";
  std::set<std::string> keys;
  for (const char* mode : {kSyncMode, kHotMode, kColdMode}) {
    Method how;
    how.mode = mode;
    keys.insert(plan_key(what, how));
    EXPECT_EQ(method_in(how, Pass::kTime).mode, mode);
    EXPECT_EQ(method_in(how, Pass::kTrace).mode, kSyncMode);
    EXPECT_EQ(method_from_json(to_json(how)).mode, mode);
  }
  EXPECT_EQ(keys.size(), 3u);
}

}  // namespace
}  // namespace kymo::measure
