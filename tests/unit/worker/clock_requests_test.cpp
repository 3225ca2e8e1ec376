// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "unit/worker/engine_fixture.hpp"
#include "worker/control_client.hpp"

namespace kymo::worker {
namespace {

using measure::Pass;
using measure::protocol::Clock;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kFarAhead = 1'000'000'000'000'000;

TEST(ClockQuestions, OfOneBootAreAnsweredExactlyByOne) {
  FakeControl control;
  const std::int64_t before_ns = now_ns();
  const auto sync = compare_with_supervisor(control, 1'000);
  ASSERT_TRUE(sync);
  EXPECT_EQ(control.clock_questions, 1);
  EXPECT_EQ(sync->clock, "supervisor");
  EXPECT_EQ(sync->error_ns, 0);
  EXPECT_EQ(sync->clock_ns - sync->host_ns, 1'000);
  EXPECT_GE(sync->clock_ns, before_ns);
  EXPECT_EQ(to_supervisor_clock(control, 5'000), 5'000);
}

TEST(ClockQuestions, OfOtherMachinesGoByTheFastest) {
  FakeControl control;
  control.on_clock_request = [](std::int64_t sequence) {
    return Clock{sequence, now_ns() + kFarAhead, "another boot"};
  };
  const auto sync = compare_with_supervisor(control, 0);
  ASSERT_TRUE(sync);
  EXPECT_EQ(control.clock_questions, 16);
  EXPECT_GE(sync->error_ns, 1);
  const std::int64_t offset_ns = sync->clock_ns - sync->host_ns;
  EXPECT_LE(offset_ns, kFarAhead + sync->error_ns);
  EXPECT_GE(offset_ns, kFarAhead - sync->error_ns);
  EXPECT_NEAR(static_cast<double>(to_supervisor_clock(control, 5'000).value() - kFarAhead), 5'000, 1e9);
}

TEST(ClockQuestions, DoNotTrustABootThatHasAnotherClock) {
  FakeControl control;
  control.on_clock_request = [](std::int64_t sequence) { return Clock{sequence, now_ns() - kFarAhead, boot_id()}; };
  const auto sync = compare_with_supervisor(control, 0);
  ASSERT_TRUE(sync);
  EXPECT_EQ(control.clock_questions, 16);
  EXPECT_GE(sync->error_ns, 1);
}

TEST(ClockQuestions, EndWithTheRun) {
  FakeControl control;
  control.on_clock_request = [](std::int64_t) -> std::optional<Clock> { return std::nullopt; };
  EXPECT_FALSE(compare_with_supervisor(control, 0));
  EXPECT_FALSE(to_supervisor_clock(control, 0));
  control.on_clock_request = [](std::int64_t) -> std::optional<Clock> { throw ConnectionLost("gone"); };
  EXPECT_THROW(compare_with_supervisor(control, 0), ConnectionLost);
}

class ClockOfPass : public EngineTest {
 protected:
  PassResult pass_of(Pass pass, int ranks) {
    assignment.pass = pass;
    assignment.what.ranks = ranks;
    FakeWorkload workload;
    return run(workload);
  }
};

TEST_F(ClockOfPass, IsComparedAtBothEndsOfObservedPassesOfSeveralRanks) {
  for (const Pass pass : {Pass::kMemory, Pass::kTrace, Pass::kOps}) {
    const PassResult result = pass_of(pass, 2);
    ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
    const auto& syncs = result.record.trace.clock_syncs;
    ASSERT_THAT(syncs, SizeIs(2)) << to_string(pass);
    ASSERT_FALSE(result.record.samples.empty());
    EXPECT_LE(syncs[0].host_ns, result.record.samples.front().start_ns);
    EXPECT_GE(syncs[1].host_ns, result.record.samples.back().start_ns);
  }
  for (const Pass pass : {Pass::kTime, Pass::kVerify})
    EXPECT_THAT(pass_of(pass, 2).record.trace.clock_syncs, IsEmpty());
  EXPECT_THAT(pass_of(Pass::kTrace, 1).record.trace.clock_syncs, IsEmpty());
}

TEST_F(ClockOfPass, WhenCancelledEndsThePass) {
  control.on_clock_request = [](std::int64_t) -> std::optional<Clock> { return std::nullopt; };
  EXPECT_EQ(pass_of(Pass::kTrace, 2).outcome.status, RunStatus::kInterrupted);
}

}  // namespace
}  // namespace kymo::worker
