// SPDX-License-Identifier: Apache-2.0
// Which of several ranks causes the end of a pass, and its position at that time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <vector>

#include "supervisor/pass_state.hpp"

namespace kymo::supervisor {
namespace {

using measure::Pass;
using testing::HasSubstr;

Outcome failed(const std::string& detail, std::int64_t failed_ns) {
  Outcome outcome;
  outcome.status = RunStatus::kFailed;
  outcome.detail = detail;
  outcome.failed_ns = failed_ns;
  return outcome;
}

TEST(PassCause, OfSeveralFailuresTheFirstToHappenIsTheCause) {
  PassState state(Pass::kTime, 3, {}, 0);
  for (int rank = 0; rank < 3; ++rank) state.connected(rank, 0);
  EXPECT_TRUE(state.outcome(0, failed("a collective failed: another rank is gone", 900'000'000), 1).empty());
  EXPECT_TRUE(state.outcome(2, failed("bad input", 800'000'000), 1.2).empty());
  state.outcome(1, failed("a collective failed as well", 900'000'000), 1.3);
  EXPECT_EQ(state.verdict().rank, 2);
  EXPECT_EQ(state.verdict().detail, "bad input");
}

TEST(PassCause, ARankThatFailedFirstIsWaitedForWhileItClearsUp) {
  PassState state(Pass::kTime, 3, {}, 0);
  for (int rank = 0; rank < 3; ++rank) state.connected(rank, 0);
  state.progress(2, {"step", 4, 0, true}, 1);
  EXPECT_TRUE(state.outcome(0, failed("connection closed", -1), 1.1).empty());
  EXPECT_TRUE(state.tick(3).empty()) << "longer than for ranks of which nothing is known";
  EXPECT_EQ(state.outcome(2, failed("the cause", 1'000'000'000), 4).size(), 3u) << "all end";
  EXPECT_EQ(state.verdict().detail, "the cause");
  EXPECT_EQ(state.verdict().rank, 2);
}

TEST(PassCause, AProcessThatEndsAfterAFailureWasReportedIsNotTheCause) {
  PassLimits limits;
  limits.settle_s = limits.clear_up_s = 1e9;  // of an observed program, whose end is waited for
  PassState state(Pass::kTime, 2, limits, 0);
  for (int rank = 0; rank < 2; ++rank) state.connected(rank, 0);
  state.outcome(1, failed("bad value", 1'000'000'000), 1);
  state.disconnected(0, 1.5);
  WorkerEnd end;
  end.end.exit_code = 1;
  state.ended(0, end, 2);
  state.ended(1, end, 2);
  EXPECT_EQ(state.verdict().detail, "bad value");
  EXPECT_EQ(state.verdict().rank, 1);
}

TEST(PassCause, ARankThatClearsUpForTooLongIsNotWaitedFor) {
  PassState state(Pass::kTime, 2, {}, 0);
  for (int rank = 0; rank < 2; ++rank) state.connected(rank, 0);
  state.progress(1, {"step", 4, 0, true}, 1);
  state.outcome(0, failed("connection closed", -1), 1.1);
  EXPECT_TRUE(state.tick(7).empty());
  EXPECT_EQ(state.tick(7.2).size(), 2u) << "both end";
  EXPECT_EQ(state.verdict().rank, 0);
}

TEST(PassCause, TheRankThatOthersWaitForIsTheOneThatTimesOut) {
  PassLimits limits;
  limits.timeout_s = 3;
  std::vector<measure::WorkerStatus> seen{
      {4, "communication", 9, 8}, {4, "communication", 9, 8}, {4, "backward", 8, 8}};
  PassState state(Pass::kTime, 3, limits, 0, [&](int rank) { return seen.at(static_cast<std::size_t>(rank)); });
  for (int rank = 0; rank < 3; ++rank) state.connected(rank, 0);
  for (int rank = 0; rank < 3; ++rank) state.progress(rank, {"step", 4, 10}, 1 + 0.01 * rank);
  EXPECT_TRUE(state.tick(3.9).empty());
  state.tick(4.005);  // rank 0 is the first to exceed the progress timeout
  EXPECT_EQ(state.verdict().status, RunStatus::kTimeout);
  EXPECT_EQ(state.verdict().rank, 2);
  EXPECT_EQ(state.verdict().phase, "backward");
  EXPECT_EQ(state.verdict().step, 4);
  EXPECT_THAT(state.verdict().detail, HasSubstr("phase 'backward'"));
}

TEST(PassCause, TheCollectiveThatARankDidNotJoinIsNamed) {
  PassLimits limits;
  limits.timeout_s = 3;
  const measure::BegunCollective second{2, "all_reduce", "world", 1, 4096}, third{3, "all_gather", "world", 2, 8};
  std::vector<measure::WorkerStatus> seen{{4, "backward", 2, 2, {second}}, {4, "communication", 3, 2, {second, third}}};
  PassState state(Pass::kTime, 2, limits, 0, [&](int rank) { return seen.at(static_cast<std::size_t>(rank)); });
  for (int rank = 0; rank < 2; ++rank) state.connected(rank, 0);
  state.tick(3.1);
  EXPECT_EQ(state.verdict().rank, 0);
  EXPECT_THAT(state.verdict().detail,
              HasSubstr("; rank 0 did not join all_gather 2 of communicator 'world' (8 B), in which rank 1 is"));
}

TEST(PassCause, NoCollectiveIsNamedWhereNobodyFailed) {
  PassState state(Pass::kTime, 2, {}, 0, [](int rank) {
    return rank == 0 ? measure::WorkerStatus{} : measure::WorkerStatus{1, "", 1, 0, {{1, "barrier", "world", 0, 0}}};
  });
  for (int rank = 0; rank < 2; ++rank) state.connected(rank, 0);
  Outcome skipped;
  skipped.status = RunStatus::kSkipped;
  skipped.detail = "no";
  state.outcome(0, skipped, 1);
  state.tick(5);
  EXPECT_EQ(state.verdict().detail, "no");
}

TEST(PassCause, ACrashIsReportedAtTheLastPositionOfTheWorker) {
  PassState state(Pass::kTime, 1, {}, 0, [](int) { return measure::WorkerStatus{7, "communication", 3, 2}; });
  state.connected(0, 0);
  WorkerEnd end;
  end.end.signal = SIGKILL;
  state.ended(0, end, 1);
  EXPECT_EQ(state.verdict().phase, "communication");
  EXPECT_EQ(state.verdict().step, 7);
  EXPECT_THAT(state.verdict().detail, HasSubstr("waiting in collective call 3"));
}

TEST(PassCause, ACallInWhichARankWaitsIsDescribed) {
  PassState state(Pass::kTime, 1, {}, 0,
                  [](int) { return measure::WorkerStatus{7, "communication", 3, 2, {{3, "broadcast", "", 2, 4096}}}; });
  state.connected(0, 0);
  WorkerEnd end;
  end.end.signal = SIGKILL;
  state.ended(0, end, 1);
  EXPECT_THAT(state.verdict().detail, HasSubstr("waiting in broadcast 2 (4.00 KiB)"));
}

}  // namespace
}  // namespace kymo::supervisor
