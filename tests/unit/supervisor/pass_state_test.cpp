// SPDX-License-Identifier: Apache-2.0
#include "supervisor/pass_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "unit/supervisor/pass_actions.hpp"

namespace kymo::supervisor {
namespace {

using measure::Pass;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

WorkerEnd by_signal(int number) { return {{std::nullopt, number}, false, ""}; }
WorkerEnd by_exit(int code) { return {{code, std::nullopt}, false, ""}; }

TEST(PassState, IsDoneWhenAllReportOk) {
  PassState state = started(2);
  EXPECT_THAT(texts(state.outcome(1, outcome(RunStatus::kOk), 1)), IsEmpty());
  EXPECT_FALSE(state.done());
  EXPECT_THAT(texts(state.outcome(0, outcome(RunStatus::kOk), 2)), IsEmpty());
  EXPECT_TRUE(state.done());
  EXPECT_EQ(state.verdict().status, RunStatus::kOk);
  EXPECT_EQ(state.status_of(1), RunStatus::kOk);
}

TEST(PassState, KnowsWhetherARankHasBegunAStep) {
  std::optional<measure::WorkerStatus> seen;
  PassState state(Pass::kTime, 2, {}, 0, [&](int rank) { return rank == 1 ? seen : std::nullopt; });
  EXPECT_FALSE(state.began_steps(0));
  state.progress(0, {"prepare", -1, 0}, 1);
  EXPECT_FALSE(state.began_steps(0));
  state.progress(0, {"warmup", 0, 8}, 2);
  EXPECT_TRUE(state.began_steps(0));
  EXPECT_FALSE(state.began_steps(1));
  seen.emplace();
  EXPECT_FALSE(state.began_steps(1));
  seen->step = 0;  // of which no progress was reported
  EXPECT_TRUE(state.began_steps(1));
}

TEST(PassState, ARankThatIsLeftOutIsNotWaitedFor) {
  PassState state(Pass::kOps, 2, {}, 0);
  state.leave_out(0);
  state.connected(1, 0);
  state.ended(0, by_exit(1), 1);  // its process may end at any time
  EXPECT_FALSE(state.done());
  state.outcome(1, outcome(RunStatus::kOk), 1);
  EXPECT_TRUE(state.done());
  EXPECT_EQ(state.verdict().status, RunStatus::kOk);

  PassState crashed(Pass::kOps, 2, {}, 0);
  crashed.leave_out(0);
  crashed.connected(1, 0);
  EXPECT_THAT(texts(crashed.ended(1, by_signal(SIGKILL), 1)), IsEmpty());
  EXPECT_TRUE(crashed.done());
  EXPECT_EQ(crashed.verdict().rank, 1);
}

TEST(PassState, AnOkRankThatDiesLaterChangesNothing) {
  PassState state = started(2);
  state.outcome(0, outcome(RunStatus::kOk), 1);
  EXPECT_THAT(texts(state.ended(0, by_signal(SIGSEGV), 1.1)), IsEmpty());
  state.outcome(1, outcome(RunStatus::kOk), 2);
  EXPECT_TRUE(state.done());
  EXPECT_EQ(state.verdict().status, RunStatus::kOk);
  EXPECT_EQ(state.status_of(0), RunStatus::kOk);
}

TEST(PassState, ACrashEndsAllRanksAtOnceAndIsTheCause) {
  PassState state = started(3);
  state.progress(1, {"step", 4, 15}, 1);
  EXPECT_THAT(texts(state.ended(1, {{std::nullopt, SIGSEGV}, false, "bad \n access"}, 2)),
              ElementsAre("kill 0", "kill 2"));
  EXPECT_FALSE(state.done());
  state.ended(0, by_signal(SIGKILL), 2.1);
  EXPECT_FALSE(state.done());
  state.ended(2, by_signal(SIGKILL), 2.2);
  EXPECT_TRUE(state.done());
  const Outcome& verdict = state.verdict();
  EXPECT_EQ(verdict.status, RunStatus::kCrashed);
  EXPECT_EQ(verdict.rank, 1);
  EXPECT_EQ(verdict.signal, SIGSEGV);
  EXPECT_EQ(verdict.exit_code, std::nullopt);
  EXPECT_EQ(verdict.step, 4);
  EXPECT_EQ(verdict.phase, "step");
  EXPECT_THAT(verdict.detail, HasSubstr("rank 1 was terminated by signal 11"));
  EXPECT_THAT(verdict.detail, HasSubstr("step 4"));
  EXPECT_THAT(verdict.detail, HasSubstr("last output: 'bad"));
  EXPECT_EQ(verdict.detail.find('\n'), std::string::npos);
  EXPECT_EQ(state.status_of(1), RunStatus::kCrashed);
  EXPECT_EQ(state.status_of(0), RunStatus::kInterrupted);
}

TEST(PassState, EndingWithoutReportIsACrashWhateverTheCode) {
  PassState state = started(1);
  state.ended(0, by_exit(0), 1);
  EXPECT_TRUE(state.done());
  EXPECT_EQ(state.verdict().status, RunStatus::kCrashed);
  EXPECT_EQ(state.verdict().exit_code, 0);
  EXPECT_THAT(state.verdict().detail, HasSubstr("exited with code 0 before reporting an outcome"));
}

TEST(PassState, SaysThatAWorkerNeverConnected) {
  PassState state(Pass::kVerify, 1, {}, 0);
  state.ended(0, {{127, std::nullopt}, false, "no libfoo.so"}, 1);
  EXPECT_EQ(state.verdict().status, RunStatus::kCrashed);
  EXPECT_EQ(state.verdict().detail, "rank 0 exited with code 127 before connecting; last output: 'no libfoo.so'");
}

TEST(PassState, SigkillIsAnOomOnlyIfTheKernelRanOutOfMemory) {
  PassState starved = started(1);
  starved.resident(0, 5 << 20, std::nullopt, 1);
  starved.ended(0, {{std::nullopt, SIGKILL}, true, ""}, 2);
  EXPECT_EQ(starved.verdict().status, RunStatus::kOom);
  EXPECT_EQ(starved.verdict().out_of_memory->where, "host");
  EXPECT_EQ(starved.verdict().out_of_memory->peak_bytes, 5 << 20);
  EXPECT_EQ(starved.verdict().out_of_memory->requested_bytes, std::nullopt);
  PassState killed = started(1);
  killed.ended(0, by_signal(SIGKILL), 2);
  EXPECT_EQ(killed.verdict().status, RunStatus::kCrashed);
  PassState crashed = started(1);
  crashed.ended(0, {{std::nullopt, SIGSEGV}, true, ""}, 2);
  EXPECT_EQ(crashed.verdict().status, RunStatus::kCrashed) << "another process was starved";
}

TEST(PassState, ExceedingHostMemoryIsAnOom) {
  PassLimits limits;
  limits.host_memory_bytes = 1000;
  PassState state = started(2, limits);
  EXPECT_THAT(texts(state.resident(0, 1000, std::nullopt, 1)), IsEmpty());
  EXPECT_THAT(texts(state.resident(1, 1001, 77, 1)), ElementsAre("kill 0", "kill 1"));
  EXPECT_EQ(state.verdict().status, RunStatus::kOom);
  EXPECT_EQ(state.verdict().rank, 1);
  EXPECT_EQ(state.verdict().out_of_memory->free_bytes, 77);
  EXPECT_EQ(state.verdict().out_of_memory->peak_bytes, 1001);
  EXPECT_THAT(state.verdict().detail, HasSubstr("1001 B"));
}

TEST(PassState, AReportedFailureEndsTheOthersAfterItSettled) {
  PassState state = started(2);
  EXPECT_THAT(texts(state.outcome(0, outcome(RunStatus::kFailed, "bad input"), 1)), IsEmpty());
  EXPECT_THAT(texts(state.tick(1.9)), IsEmpty());
  EXPECT_THAT(texts(state.tick(2.1)), ElementsAre("exit 0", "kill 1"));
  state.ended(1, by_signal(SIGKILL), 2.2);
  EXPECT_FALSE(state.done()) << "rank 0 may end by itself";
  EXPECT_THAT(texts(state.tick(3)), IsEmpty());
  EXPECT_THAT(texts(state.tick(4.2)), ElementsAre("kill 0"));
  EXPECT_THAT(texts(state.tick(4.3)), IsEmpty()) << "killed once";
  state.ended(0, by_signal(SIGKILL), 4.4);
  EXPECT_TRUE(state.done());
  EXPECT_EQ(state.verdict().status, RunStatus::kFailed);
  EXPECT_EQ(state.verdict().detail, "bad input");
  EXPECT_EQ(state.verdict().phase, "forward");
  EXPECT_EQ(state.verdict().step, 3);
  EXPECT_EQ(state.status_of(0), RunStatus::kFailed);
}

TEST(PassState, ACrashWithinTheSettlingTimeIsTheCauseOfAReportedFailure) {
  PassState state = started(2);
  state.outcome(0, outcome(RunStatus::kFailed, "connection lost"), 1);
  EXPECT_THAT(texts(state.ended(1, by_signal(SIGABRT), 1.1)), ElementsAre("exit 0"));
  EXPECT_EQ(state.verdict().status, RunStatus::kCrashed);
  EXPECT_EQ(state.verdict().rank, 1);
}

TEST(PassState, TheFirstOfTwoReportedFailuresWins) {
  PassState state = started(2);
  state.outcome(1, outcome(RunStatus::kFailed, "first"), 1);
  EXPECT_THAT(texts(state.outcome(0, outcome(RunStatus::kFailed, "second"), 1.1)), ElementsAre("exit 0", "exit 1"))
      << "nobody is left to wait for";
  EXPECT_EQ(state.verdict().detail, "first");
  EXPECT_EQ(state.verdict().rank, 1);
}

TEST(PassState, OomIsDecidedOnceTheOthersCouldWaitForTheRank) {
  PassState state = started(2);
  EXPECT_THAT(texts(state.outcome(1, outcome(RunStatus::kOom, "7 GiB"), 1)), ElementsAre());
  EXPECT_THAT(texts(state.tick(2)), ElementsAre("kill 0", "exit 1"));
  EXPECT_EQ(state.verdict().status, RunStatus::kOom);
  EXPECT_EQ(state.status_of(0), RunStatus::kInterrupted);
}

TEST(PassState, SkippingWaitsForTheOthersAndYieldsToAFailure) {
  PassState all = started(2);
  all.outcome(0, outcome(RunStatus::kSkipped, "no"), 1);
  EXPECT_THAT(texts(all.outcome(1, outcome(RunStatus::kSkipped, "no"), 1.5)), ElementsAre("exit 0", "exit 1"));
  EXPECT_EQ(all.verdict().status, RunStatus::kSkipped);
  PassState mixed = started(2);
  mixed.outcome(0, outcome(RunStatus::kSkipped, "no"), 1);
  mixed.outcome(1, outcome(RunStatus::kFailed, "broken"), 1.5);
  EXPECT_EQ(mixed.verdict().status, RunStatus::kFailed);
  PassState stuck = started(2);
  stuck.outcome(0, outcome(RunStatus::kSkipped, "no"), 1);
  EXPECT_THAT(texts(stuck.tick(2.1)), ElementsAre("exit 0", "kill 1"));
  EXPECT_EQ(stuck.verdict().status, RunStatus::kSkipped);
}

TEST(PassState, ReleasesABarrierOnceAllArriveAndRankZeroDecidesToStop) {
  PassState state = started(3);
  EXPECT_THAT(texts(state.barrier(2, {0, true}, 1)), IsEmpty());
  EXPECT_THAT(texts(state.barrier(0, {0, false}, 1)), IsEmpty());
  EXPECT_THAT(texts(state.barrier(1, {0, true}, 1)), ElementsAre("release 0 #0", "release 1 #0", "release 2 #0"));
  state.barrier(1, {1, false}, 2);
  state.barrier(2, {1, false}, 2);
  EXPECT_THAT(texts(state.barrier(0, {1, true}, 2)),
              ElementsAre("release 0 #1 stop", "release 1 #1 stop", "release 2 #1 stop"));
}

TEST(PassState, GathersInRankOrder) {
  PassState state = started(2);
  EXPECT_THAT(texts(state.gather(1, {7, "b"}, 1)), IsEmpty());
  EXPECT_THAT(texts(state.gather(0, {7, "a"}, 1)), ElementsAre("gathered 0 #7 a b", "gathered 1 #7 a b"));
}

TEST(PassState, RejectsAGatherThatFitsNoFrame) {
  PassState state = started(2);
  const std::string half(kMaxFrameBytes / 2, 'a');
  state.gather(0, {0, half}, 1);
  EXPECT_THAT(texts(state.gather(1, {0, half}, 1)), ElementsAre("kill 0", "kill 1"));
  EXPECT_EQ(state.verdict().status, RunStatus::kFailed);
  EXPECT_THAT(state.verdict().detail, HasSubstr("64.0 MiB"));
}

TEST(PassState, SeesThatRanksWaitForEachOther) {
  PassState sequences = started(2);
  sequences.barrier(0, {3, false}, 1);
  EXPECT_THAT(texts(sequences.barrier(1, {4, false}, 1)), ElementsAre("kill 0", "kill 1"));
  EXPECT_THAT(sequences.verdict().detail, HasSubstr("rank 0 at barrier 3, rank 1 at barrier 4"));
  PassState kinds = started(2);
  kinds.barrier(0, {0, false}, 1);
  kinds.gather(1, {0, ""}, 1);
  EXPECT_EQ(kinds.verdict().status, RunStatus::kFailed);
  PassState left = started(2);
  left.outcome(0, outcome(RunStatus::kOk), 1);
  left.barrier(1, {0, false}, 1);
  EXPECT_EQ(left.verdict().status, RunStatus::kFailed);
  EXPECT_THAT(left.verdict().detail, HasSubstr("rank 0 finished, rank 1 at barrier 0"));
}

TEST(PassState, ASecondWaitOfOneRankBreaksTheProtocol) {
  PassState state = started(2);
  state.barrier(0, {0, false}, 1);
  EXPECT_THAT(texts(state.barrier(0, {1, false}, 1)), ElementsAre("kill 0", "kill 1"));
  EXPECT_EQ(state.verdict().status, RunStatus::kFailed);
  EXPECT_EQ(state.verdict().rank, 0);
}

TEST(PassState, AWorkerThatHangsUpIsFailedUnlessItIsAboutToEnd) {
  PassState hangs = started(1);
  hangs.disconnected(0, 1);
  EXPECT_THAT(texts(hangs.tick(2)), IsEmpty());
  EXPECT_THAT(texts(hangs.tick(3.5)), ElementsAre("kill 0"));
  EXPECT_EQ(hangs.verdict().status, RunStatus::kFailed);
  PassState ends = started(1);
  ends.disconnected(0, 1);
  ends.ended(0, by_signal(SIGBUS), 1.01);
  EXPECT_EQ(ends.verdict().status, RunStatus::kCrashed);
}

TEST(PassState, TheRankOfAProgramThatDisconnectsFirstIsTheCause) {
  WorkerEnd end{{.exit_code = 1, .signal = {}}, false, ""};
  end.of_program = true;
  PassState state = started(3);
  state.disconnected(2, 1);
  state.disconnected(0, 1.1);
  for (int rank = 0; rank < 3; ++rank) state.ended(rank, end, 1.2);
  EXPECT_EQ(state.verdict().status, RunStatus::kCrashed);
  EXPECT_EQ(state.verdict().rank, 2);
  EXPECT_THAT(state.verdict().detail, HasSubstr("rank 2 ended before reporting an outcome"));
  EXPECT_THAT(state.verdict().detail, HasSubstr("the program ended with exit code 1"));
}

TEST(PassState, ASecondReportBreaksTheProtocol) {
  PassState twice = started(1);
  twice.outcome(0, outcome(RunStatus::kOk), 1);
  EXPECT_THAT(texts(twice.outcome(0, outcome(RunStatus::kFailed), 1)), ElementsAre("kill 0"));
  EXPECT_EQ(twice.verdict().status, RunStatus::kOk) << "the first report stands";
}

TEST(PassState, CancelLetsTheStepsEnd) {
  PassState state = started(2);
  state.barrier(0, {0, false}, 1);
  EXPECT_THAT(texts(state.cancel("SIGINT", 1)), ElementsAre("cancel 0", "cancel 1"));
  EXPECT_THAT(texts(state.cancel("SIGINT", 1)), IsEmpty());
  EXPECT_THAT(texts(state.outcome(0, outcome(RunStatus::kInterrupted), 1.1)), IsEmpty());
  EXPECT_THAT(texts(state.barrier(1, {0, false}, 2)), IsEmpty()) << "the cancellation answers it";
  EXPECT_THAT(texts(state.tick(4)), IsEmpty());
  EXPECT_THAT(texts(state.outcome(1, outcome(RunStatus::kInterrupted), 4.5)), ElementsAre("exit 0", "exit 1"));
  EXPECT_EQ(state.verdict().status, RunStatus::kInterrupted);
  EXPECT_EQ(state.verdict().detail, "interrupted by SIGINT");
}

TEST(PassState, CancelKillsWhatDoesNotEndInTime) {
  PassState state = started(2);
  state.cancel("SIGTERM", 1);
  state.outcome(0, outcome(RunStatus::kInterrupted), 2);
  EXPECT_THAT(texts(state.tick(5.9)), IsEmpty());
  EXPECT_THAT(texts(state.tick(6.1)), ElementsAre("exit 0", "kill 1"));
  EXPECT_EQ(state.verdict().status, RunStatus::kInterrupted);
  PassState deaf = started(1);
  deaf.cancel("SIGTERM", 1);
  deaf.tick(6.1);
  EXPECT_EQ(deaf.verdict().status, RunStatus::kInterrupted);
  EXPECT_THAT(deaf.verdict().detail, HasSubstr("still running after 5 s: rank 0"));
}

TEST(PassState, WhatFailsAfterCancelIsAnInterruption) {
  PassState state = started(2);
  state.cancel("SIGINT", 1);
  EXPECT_THAT(texts(state.ended(1, by_signal(SIGSEGV), 2)), ElementsAre("kill 0"));
  EXPECT_EQ(state.verdict().status, RunStatus::kInterrupted);
  EXPECT_THAT(state.verdict().detail, HasSubstr("then: crashed: rank 1"));
}

TEST(PassState, ALossThatTheLauncherWasQuickerToSeeIsACrash) {
  const WorkerEnd lost{{}, false, "", "its machine is gone"};
  PassState state = started(2);
  state.cancel("SIGTERM", 1);
  state.ended(1, lost, 1.1);
  EXPECT_EQ(state.verdict().status, RunStatus::kCrashed);
  EXPECT_EQ(state.verdict().rank, 1);
  EXPECT_THAT(state.verdict().detail, HasSubstr("rank 1 was lost: its machine is gone"));
  PassState late = started(2);
  late.cancel("SIGTERM", 1);
  late.ended(1, lost, 3);
  EXPECT_EQ(late.verdict().status, RunStatus::kInterrupted);
}

TEST(PassState, ARunThatWasNearlyDoneStaysOkAfterCancel) {
  PassState state = started(1);
  state.cancel("SIGINT", 1);
  state.outcome(0, outcome(RunStatus::kOk), 1.5);
  EXPECT_TRUE(state.done());
  EXPECT_EQ(state.verdict().status, RunStatus::kOk);
}

TEST(PassState, CancelAtOnceKillsEvenThoseThatReported) {
  PassState state = started(2);
  state.outcome(0, outcome(RunStatus::kOk), 1);
  state.cancel("SIGINT", 1);
  EXPECT_THAT(texts(state.cancel_at_once(1.2)), ElementsAre("exit 0", "kill 1", "kill 0"));
  EXPECT_EQ(state.verdict().status, RunStatus::kInterrupted);
}

TEST(PassState, GivesUpOnAProcessThatCannotBeKilled) {
  PassLimits limits;
  limits.abandon_s = 60;
  PassState state = started(1, limits);
  state.outcome(0, outcome(RunStatus::kFailed), 1);
  EXPECT_THAT(texts(state.tick(4)), ElementsAre("kill 0"));
  state.tick(50);
  EXPECT_FALSE(state.done());
  state.tick(70);
  EXPECT_TRUE(state.done());
}

TEST(PassState, TheWorstVerificationCounts) {
  PassState state = started(3);
  EXPECT_EQ(state.verification(), std::nullopt);
  auto said = outcome(RunStatus::kOk);
  said.verification = event::CheckOutcome::kPassed;
  state.outcome(0, said, 1);
  EXPECT_EQ(state.verification(), event::CheckOutcome::kPassed);
  said.verification = event::CheckOutcome::kUnavailable;
  state.outcome(1, said, 1);
  EXPECT_EQ(state.verification(), event::CheckOutcome::kUnavailable);
  said.verification = event::CheckOutcome::kFailed;
  state.outcome(2, said, 1);
  EXPECT_EQ(state.verification(), event::CheckOutcome::kFailed);
}

}  // namespace
}  // namespace kymo::supervisor
