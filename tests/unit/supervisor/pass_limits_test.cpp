// SPDX-License-Identifier: Apache-2.0
// Passes and runs that take too long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/pass_state.hpp"
#include "unit/supervisor/pass_actions.hpp"

namespace kymo::supervisor {
namespace {

using measure::Pass;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(PassLimits, TimeOutNamesTheRankThatHangsNotTheOneThatWaits) {
  PassLimits limits;
  limits.timeout_s = 10;
  PassState state = started(2, limits);
  state.progress(1, {"step", 3, 15}, 1);
  state.barrier(0, {3, false}, 1);
  EXPECT_THAT(texts(state.tick(10.9)), IsEmpty());
  EXPECT_THAT(texts(state.tick(11.1)), ElementsAre("kill 0", "kill 1"));
  EXPECT_EQ(state.verdict().status, RunStatus::kTimeout);
  EXPECT_EQ(state.verdict().rank, 1);
  EXPECT_EQ(state.verdict().step, 3);
  EXPECT_EQ(state.verdict().detail, "no progress for 10 s: rank 1, pass time, last reported stage 'step', step 3");
  EXPECT_EQ(state.status_of(1), RunStatus::kTimeout);
}

TEST(PassLimits, ProgressAndReleasesRenewTheDeadline) {
  PassLimits limits;
  limits.timeout_s = 10;
  PassState state = started(2, limits);
  state.barrier(0, {0, false}, 1);
  state.progress(1, {"step", 0, 1}, 9);
  state.barrier(1, {0, false}, 18);
  EXPECT_THAT(texts(state.tick(27)), IsEmpty());
  EXPECT_THAT(texts(state.tick(28.1)), ElementsAre("kill 0", "kill 1"));
}

TEST(PassLimits, AWorkerThatNeverConnectsTimesOut) {
  PassLimits limits;
  limits.timeout_s = 10;
  PassState state(Pass::kTime, 1, limits, 100);
  EXPECT_THAT(texts(state.tick(109)), IsEmpty());
  EXPECT_THAT(texts(state.tick(111)), ElementsAre("kill 0"));
  EXPECT_EQ(state.verdict().status, RunStatus::kTimeout);
}

TEST(PassLimits, NoTimeOutWithoutABound) {
  PassLimits limits;
  limits.timeout_s = 0;
  PassState state = started(1, limits);
  EXPECT_THAT(texts(state.tick(1e9)), IsEmpty());
}

TEST(PassLimits, AFirstStepThatExceedsTheLimitOfThePassSkipsTheRun) {
  PassLimits limits;
  limits.timeout_s = 600;
  limits.max_pass_time_s = 10;
  PassState state = started(2, limits);
  state.progress(1, {"warmup", 0, 15}, 1);
  state.barrier(0, {0, false}, 1);
  EXPECT_THAT(texts(state.tick(10.9)), IsEmpty());
  EXPECT_THAT(texts(state.tick(11.1)), ElementsAre("kill 0", "kill 1"));
  EXPECT_EQ(state.verdict().status, RunStatus::kSkipped);
  EXPECT_EQ(state.verdict().detail,
            "too slow: no progress for 10 s: rank 1, pass time, last reported stage 'warmup', step 0; a pass may take "
            "10 s (--max-pass-time)");
}

TEST(PassLimits, ALaterStepHasTheTimeOutOnly) {
  PassLimits limits;
  limits.timeout_s = 600;
  limits.max_pass_time_s = 10;
  PassState state = started(1, limits);
  state.progress(0, {"step", 2, 15}, 1);
  EXPECT_THAT(texts(state.tick(600.9)), IsEmpty()) << "the machine may have paused";
  EXPECT_THAT(texts(state.tick(601.1)), ElementsAre("kill 0"));
  EXPECT_EQ(state.verdict().status, RunStatus::kTimeout);
  EXPECT_EQ(state.verdict().detail, "no progress for 600 s: rank 0, pass time, last reported stage 'step', step 2");
}

PassState started_with_540_s_left(int ranks) {
  PassLimits limits;
  limits.timeout_s = 0;
  limits.all_runs = TimeLimit(540, 1);
  return started(ranks, limits);
}

TEST(PassLimits, ARunIsStoppedWhenTheTimeOfAllRunsIsOver) {
  PassState state = started_with_540_s_left(3);
  state.outcome(0, outcome(RunStatus::kOk), 400);
  state.progress(1, {"step", 7, 15}, 540.8);
  EXPECT_THAT(texts(state.tick(540.9)), IsEmpty());
  EXPECT_THAT(texts(state.tick(541)), ElementsAre("exit 0", "kill 1", "kill 2"));
  EXPECT_EQ(state.verdict().status, RunStatus::kSkipped);
  EXPECT_EQ(state.verdict().detail,
            "no time left: the run was stopped: rank 1, pass time, last reported stage 'step', step 7; all runs "
            "together may take 9 min (--max-time)");
}

TEST(PassLimits, TheEndOfTheTimeOfAllRunsChangesNoOutcome) {
  PassState complete = started_with_540_s_left(1);
  complete.outcome(0, outcome(RunStatus::kOk), 540);
  EXPECT_THAT(texts(complete.tick(542)), IsEmpty());
  EXPECT_EQ(complete.verdict().status, RunStatus::kOk);
  PassState failed = started_with_540_s_left(2);
  failed.outcome(0, outcome(RunStatus::kFailed), 540.5);
  EXPECT_THAT(texts(failed.tick(541.1)), IsEmpty()) << "it waits for the cause";
  EXPECT_THAT(texts(failed.tick(541.6)), ElementsAre("exit 0", "kill 1"));
  EXPECT_EQ(failed.verdict().status, RunStatus::kFailed);
  PassState cancelled = started_with_540_s_left(1);
  cancelled.cancel("SIGINT", 540.5);
  EXPECT_THAT(texts(cancelled.tick(541.1)), IsEmpty());
  EXPECT_THAT(texts(cancelled.tick(545.6)), ElementsAre("kill 0"));
  EXPECT_EQ(cancelled.verdict().status, RunStatus::kInterrupted);
}

TEST(PassLimits, LoadingDoesNotCountTowardsTheLimitOfThePass) {
  PassLimits limits;
  limits.timeout_s = 600;
  limits.max_pass_time_s = 10;
  PassState state = started(1, limits);
  state.progress(0, {"load", -1, 0}, 1);
  EXPECT_THAT(texts(state.tick(600)), IsEmpty());
  EXPECT_THAT(texts(state.tick(601.1)), ElementsAre("kill 0"));
  EXPECT_EQ(state.verdict().status, RunStatus::kTimeout);
}

}  // namespace
}  // namespace kymo::supervisor
