// SPDX-License-Identifier: Apache-2.0
// Collectors that fail, devices that fail, and the stopping rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "unit/worker/fake_collector.hpp"
#include "unit/worker/fake_control.hpp"
#include "unit/worker/fake_workload.hpp"
#include "worker/engine.hpp"
#include "worker/scheduling.hpp"
#include "worker/step_driver.hpp"

namespace kymo::worker {
namespace {

using testing::HasSubstr;

class ObservationTest : public testing::Test {
 protected:
  PassResult run() { return run(workload); }
  PassResult run(FakeWorkload& which) {
    assignment.method = measure::method_in(assignment.method, assignment.pass);
    return run_pass(assignment, which.plugin(), observers, control, {now_ns(), {}});
  }

  measure::protocol::Assignment assignment = fake_assignment();
  Observers observers;
  FakeControl control;
  FakeWorkload workload;
};

TEST_F(ObservationTest, AnUnavailableCollectorIsADroppedRecord) {
  FakeCollector collector;
  collector.unavailable = "no driver\nat all";
  observers.all.push_back({&collector, nullptr});
  observers.dropped_records.push_back({"kymo_other", -1, "no such file"});
  const PassResult result = run();
  EXPECT_EQ(result.outcome.status, RunStatus::kOk);
  ASSERT_EQ(result.record.dropped_records.size(), 2u);
  EXPECT_EQ(result.record.dropped_records[1].source, "fake");
  EXPECT_EQ(result.record.dropped_records[1].detail, "no driver");
}

TEST_F(ObservationTest, WithoutADeviceTimerAGpuIsNotTimed) {
  assignment.what.device = measure::DeviceKind::kCuda;
  observers.dropped_records.push_back({"kymo_cuda", -1, "cannot load the module"});
  const PassResult result = run();
  EXPECT_EQ(result.outcome.status, RunStatus::kFailed);
  EXPECT_THAT(result.outcome.detail, HasSubstr("cannot load the module"));
  EXPECT_EQ(workload.count("create"), 0);
}

TEST_F(ObservationTest, VerifyingOnAGpuNeedsNoTimer) {
  assignment.what.device = measure::DeviceKind::kCuda;
  assignment.pass = measure::Pass::kVerify;
  EXPECT_EQ(run().outcome.status, RunStatus::kOk);
}

TEST_F(ObservationTest, CollectorsLearnTheSetting) {
  FakeCollector collector;
  observers.all.push_back({&collector, &collector});
  assignment.what.device = measure::DeviceKind::kCuda;
  assignment.what.ranks = 2;
  assignment.local_rank = 1;
  assignment.device_index = 3;
  workload.on_prepare = [](const FakeHost& host) {
    const kymo_placement& placement = *host.host->placement(host.context);
    EXPECT_EQ(placement.local_rank, 1);
    EXPECT_EQ(placement.device_index, 3);
    return KYMO_OK;
  };
  run();
  EXPECT_EQ(workload.count("prepare"), 1);
  EXPECT_EQ(collector.setting().device, measure::DeviceKind::kCuda);
  EXPECT_EQ(collector.setting().device_index, 3);
  EXPECT_FALSE(collector.setting().uses_torch);
  EXPECT_GT(collector.setting().run_start_ns, 0);
}

TEST_F(ObservationTest, CollectorsAreAskedOnceBeforeTheStepsAndAfterEach) {
  std::vector<std::string> log;
  FakeCollector collector(&log);
  observers.all.push_back({&collector, nullptr});
  run();
  ASSERT_GE(log.size(), 2u);
  EXPECT_EQ(log[1], "before_steps");
  EXPECT_EQ(std::count(log.begin(), log.end(), "before_steps"), 1);
  EXPECT_EQ(std::count(log.begin(), log.end(), "between_steps"), 5);
}

TEST_F(ObservationTest, ADeviceErrorFailsTheStepAndKeepsTheOthers) {
  FakeCollector collector;
  collector.fail_at_synchronisation = 6;  // two per step
  observers.all.push_back({&collector, &collector});
  const PassResult result = run();
  EXPECT_EQ(result.outcome.status, RunStatus::kFailed);
  EXPECT_THAT(result.outcome.detail, HasSubstr("illegal address"));
  EXPECT_EQ(result.outcome.step, 2);
  EXPECT_EQ(result.record.samples.size(), 2u);
  EXPECT_EQ(workload.calls.back(), "destroy");
}

TEST_F(ObservationTest, CollectorsCompleteWhatIsKnownOfMissingMemory) {
  FakeCollector collector;
  observers.all.push_back({&collector, nullptr});
  workload.on_prepare = [](const FakeHost& host) { return host.fail(KYMO_OUT_OF_MEMORY, ""); };
  const PassResult result = run();
  ASSERT_TRUE(result.record.out_of_memory);
  EXPECT_EQ(result.record.out_of_memory->requested_bytes, 4096);
}

TEST_F(ObservationTest, ACollectorThatFailsToDisarmIsADroppedRecord) {
  FakeCollector collector;
  collector.disarm_error = "device lost";
  observers.all.push_back({&collector, nullptr});
  const PassResult result = run();
  EXPECT_EQ(result.outcome.status, RunStatus::kOk);
  ASSERT_EQ(result.record.dropped_records.size(), 1u);
  EXPECT_EQ(result.record.dropped_records[0].detail, "device lost");
}

TEST_F(ObservationTest, SlowedStepsAreMarked) {
  FakeCollector collector;
  event::GpuSample hot;
  hot.step = 3;
  hot.throttle_reasons = 0x40;
  event::GpuSample cool;
  cool.step = 2;
  collector.readings = {cool, hot};
  observers.all.push_back({&collector, nullptr});
  for (const auto& sample : run().record.samples) EXPECT_EQ(sample.throttled, sample.step >= 3) << sample.step;
}

TEST_F(ObservationTest, SuspendedStepsAreExcluded) {
  struct sigaction before{};
  sigaction(SIGCONT, nullptr, &before);
  watch_for_suspensions();
  int step = 0;
  workload.on_step = [&](const FakeHost&) {
    if (step == 1 || step == 3) raise(SIGCONT);
    ++step;
    return KYMO_OK;
  };
  workload.on_before_step = [](const FakeHost&) {
    raise(SIGCONT);  // outside of the timed interval
    return KYMO_OK;
  };
  const PassResult result = run();
  sigaction(SIGCONT, &before, nullptr);
  for (const auto& sample : result.record.samples)
    EXPECT_EQ(sample.throttled, sample.step == 1 || sample.step == 3) << sample.step;
  ASSERT_EQ(result.record.dropped_records.size(), 1u);
  EXPECT_EQ(result.record.dropped_records[0].source, "suspended");
  EXPECT_EQ(result.record.dropped_records[0].count, 1) << "step 1 is a warm-up step";
}

TEST_F(ObservationTest, TheStoppingRuleEndsTheSteps) {
  assignment.method.until = measure::StoppingRule{1e9, 4, 100, 0, 60};
  const PassResult result = run();
  EXPECT_EQ(result.outcome.status, RunStatus::kOk);
  EXPECT_EQ(workload.count("step"), 2 + 4);
  EXPECT_EQ(control.progress.back().steps, 0) << "nobody knows how many";
}

TEST_F(ObservationTest, TheStoppingRuleHasACap) {
  assignment.method.until = measure::StoppingRule{-1, 2, 7, 0, 60};
  run();
  EXPECT_EQ(workload.count("step"), 2 + 7);
}

std::vector<std::string> kinds_of(const PassResult& result) {
  std::vector<std::string> kinds;
  for (const event::Warning& warning : result.record.warnings) kinds.push_back(warning.kind);
  return kinds;
}

/// A step that is longer than the bound of `short steps`.
kymo_status long_step(const FakeHost&) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return KYMO_OK;
}

TEST_F(ObservationTest, AnUncertainMeanIsAWarning) {
  workload.on_step = long_step;
  assignment.method.until = measure::StoppingRule{1e-9, 2, 7, 0, 60};
  const PassResult result = run();
  ASSERT_EQ(kinds_of(result), std::vector<std::string>{"imprecise"});
  EXPECT_THAT(result.record.warnings[0].detail, testing::HasSubstr("after 7 steps"));
  assignment.method.until = measure::StoppingRule{1e9, 2, 7, 0, 60};
  EXPECT_TRUE(kinds_of(run()).empty());
}

TEST_F(ObservationTest, PhasesThatNoStepEntersAreAWarning) {
  FakeWorkload phases({"first", "second", "third"});
  phases.on_step = [](const FakeHost& host) {
    long_step(host);
    return host.phase("second");
  };
  const PassResult result = run(phases);
  ASSERT_EQ(kinds_of(result), std::vector<std::string>{"unused phases"});
  EXPECT_EQ(result.record.warnings[0].detail, "the workload declares phases that no step entered: first, third");
  phases.table().flags = KYMO_PHASES_ARE_OPTIONAL;
  EXPECT_TRUE(kinds_of(run(phases)).empty());
}

TEST_F(ObservationTest, StepsThatTakeAsLongAsTimingThemAreAWarning) {
  FakeCollector collector;
  collector.on_synchronize = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  observers.all.push_back({&collector, &collector});
  assignment.what.device = measure::DeviceKind::kCuda;
  FakeWorkload phases({"only"});
  phases.on_step = [](const FakeHost& host) { return host.phase("only"); };
  const PassResult result = run(phases);
  ASSERT_EQ(kinds_of(result), std::vector<std::string>{"short steps"});
  EXPECT_THAT(result.record.warnings[0].detail, testing::HasSubstr("its step is not declared asynchronous"));
  phases.table().flags = KYMO_STEP_IS_ASYNCHRONOUS;
  EXPECT_THAT(run(phases).record.warnings[0].detail, testing::EndsWith("use --timing hot"));
}

TEST_F(ObservationTest, TheTimePassRecordsHowStepsWereScheduled) {
  assignment.method.warmup = 2;
  assignment.method.steps = 3;
  workload.on_step = [](const FakeHost&) {
    const std::int64_t since_ns = process_usage().cpu_ns;
    while (process_usage().cpu_ns - since_ns < 5'000'000) {
    }
    return KYMO_OK;
  };
  const event::PassRecord record = run().record;
  for (const event::Sample& sample : record.samples) {
    EXPECT_GE(sample.cpu_ns.value(), 4'900'000) << sample.step;
    EXPECT_GE(sample.involuntary_switches.value(), 0);
  }
  std::int64_t steps = 0;
  for (const event::Scheduling& block : record.scheduling) steps += block.steps;
  EXPECT_EQ(steps, 3) << "without warm-up";
  assignment.pass = measure::Pass::kTrace;
  const event::PassRecord traced = run().record;
  EXPECT_FALSE(traced.samples.at(0).cpu_ns);
  EXPECT_TRUE(traced.scheduling.empty());
}

TEST_F(ObservationTest, RankZeroDecidesForAll) {
  assignment.method.until = measure::StoppingRule{1e9, 2, 100, 0, 60};
  assignment.what.ranks = 2;
  control.on_barrier = [&](bool) { return control.stops.size() == 8 ? Release::kStop : Release::kGo; };
  const PassResult result = run();
  EXPECT_EQ(result.outcome.status, RunStatus::kOk);
  EXPECT_EQ(workload.count("step"), 7) << "this rank's own wish does not count";
  EXPECT_FALSE(control.stops[3]);
  EXPECT_TRUE(control.stops[4]);
}

TEST_F(ObservationTest, WarmupDoesNotCountForTheStoppingRule) {
  assignment.method.warmup = 50;
  assignment.method.until = measure::StoppingRule{1e9, 3, 10, 0, 60};
  run();
  EXPECT_EQ(workload.count("step"), 53);
}

}  // namespace
}  // namespace kymo::worker
