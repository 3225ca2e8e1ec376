// SPDX-License-Identifier: Apache-2.0
// Workloads with invalid phases, and the samples of valid ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <thread>

#include "base/clock.hpp"
#include "unit/worker/fake_collector.hpp"
#include "unit/worker/fake_control.hpp"
#include "unit/worker/fake_workload.hpp"
#include "worker/engine.hpp"

namespace kymo::worker {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class PhasesTest : public testing::Test {
 protected:
  PassResult run(std::function<kymo_status(const FakeHost&)> step) {
    workload.on_step = std::move(step);
    return run_pass(assignment, workload.plugin(), observers, control, {now_ns(), {}});
  }
  void expect_violation(std::function<kymo_status(const FakeHost&)> step, const std::string& phase,
                        const std::string& what) {
    const PassResult result = run(std::move(step));
    EXPECT_EQ(result.outcome.status, RunStatus::kFailed);
    EXPECT_THAT(result.outcome.detail, AllOf(HasSubstr(phase), HasSubstr(what)));
  }

  measure::protocol::Assignment assignment = fake_assignment();
  Observers observers;
  FakeControl control;
  FakeWorkload workload{{"forward", "backward"}};
};

TEST_F(PhasesTest, NestedPhasesFail) {
  expect_violation(
      [](const FakeHost& host) {
        host.begin("forward");
        host.begin("backward");
        host.end();
        return KYMO_OK;
      },
      "'backward' begins inside phase 'forward'", "nest");
}

TEST_F(PhasesTest, AnUndeclaredPhaseFailsAndNamesTheNearest) {
  expect_violation([](const FakeHost& host) { return host.phase("forwards"); }, "'forwards'", "forward");
}

TEST_F(PhasesTest, APhaseLeftOpenFails) {
  expect_violation([](const FakeHost& host) { return host.begin("backward"); }, "'backward'", "still open");
}

TEST_F(PhasesTest, AnEndWithoutABeginFails) {
  expect_violation([](const FakeHost& host) { return host.end(), KYMO_OK; }, "phase", "no phase is open");
}

TEST_F(PhasesTest, ANullNameFails) {
  expect_violation([](const FakeHost& host) { return host.begin(nullptr), KYMO_OK; }, "''", "not declared");
}

TEST_F(PhasesTest, TheViolationOutweighsWhatTheWorkloadSaysOfIt) {
  expect_violation(
      [](const FakeHost& host) {
        host.begin("sideways");
        return host.fail(KYMO_FAILED, "phase was refused");
      },
      "'sideways'", "not declared");
}

TEST_F(PhasesTest, APhaseOutsideOfAStepFails) {
  workload.on_prepare = [](const FakeHost& host) { return host.phase("forward"), KYMO_OK; };
  expect_violation(nullptr, "'forward'", "outside a step");
}

TEST_F(PhasesTest, APhaseInBeforeStepFails) {
  workload.on_before_step = [](const FakeHost& host) { return host.phase("forward"), KYMO_OK; };
  expect_violation(nullptr, "'forward'", "outside a step");
}

TEST_F(PhasesTest, WorkOfAnUndeclaredPhaseFails) {
  workload.on_prepare = [](const FakeHost& host) {
    host.host->work(host.context, "optimizer", 1, 1);
    return KYMO_OK;
  };
  expect_violation(nullptr, "'optimizer'", "work");
}

TEST_F(PhasesTest, SamplesHoldCallsAndOther) {
  const PassResult result = run([](const FakeHost& host) {
    for (int i = 0; i < 3; ++i) host.phase("backward");
    return KYMO_OK;
  });
  ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  std::map<std::string, std::vector<event::Sample>> by_phase;
  for (const auto& sample : result.record.samples) by_phase[sample.phase].push_back(sample);
  EXPECT_EQ(by_phase.size(), 3u) << "step, backward, other; forward did not occur";
  ASSERT_EQ(by_phase["backward"].size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    const event::Sample& step = by_phase["step"][i];
    const event::Sample& backward = by_phase["backward"][i];
    EXPECT_EQ(backward.calls, 3);
    EXPECT_EQ(backward.warmup, i < 2);
    EXPECT_GE(backward.start_ns, step.start_ns);
    EXPECT_EQ(backward.host_ns + by_phase["other"][i].host_ns, step.host_ns);
    EXPECT_FALSE(backward.device_ns);
  }
}

TEST_F(PhasesTest, APhaseMayInterruptAnotherOneFromAThreadThatItWaitsFor) {
  const PassResult result = run([](const FakeHost& host) {
    host.begin("forward");
    std::thread([&] {
      host.end();
      host.phase("backward");
      host.begin("forward");
    }).join();
    host.end();
    return KYMO_OK;
  });
  ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  std::map<std::string, event::Sample> first;
  for (const auto& sample : result.record.samples) first.try_emplace(sample.phase, sample);
  EXPECT_EQ(first["forward"].calls, 2);
  EXPECT_EQ(first["backward"].calls, 1);
  EXPECT_EQ(first["forward"].host_ns + first["backward"].host_ns + first["other"].host_ns, first["step"].host_ns);
}

TEST_F(PhasesTest, NamesAreComparedByContent) {
  const PassResult result = run([](const FakeHost& host) {
    char name[16];
    for (const char* phase : {"forward", "backward", "backward"}) {
      std::snprintf(name, sizeof(name), "%s", phase);  // same address each time
      host.phase(name);
    }
    return KYMO_OK;
  });
  ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  std::map<std::string, std::int64_t> calls;
  for (const auto& sample : result.record.samples) calls[sample.phase] += sample.calls;
  EXPECT_EQ(calls["forward"], 5);
  EXPECT_EQ(calls["backward"], 10);
}

/// What happened up to the end of the last step. Intervals without a step are timed after it.
std::vector<std::string> until_last_step(std::vector<std::string> log) {
  EXPECT_EQ(log.back(), "disarm");
  log.erase(std::find(log.rbegin(), log.rend(), "between_steps").base(), log.end());
  return log;
}

TEST_F(PhasesTest, CollectorsAreToldInOrder) {
  assignment.method.warmup = 0;
  assignment.method.steps = 1;
  std::vector<std::string> log;
  FakeCollector collector(&log);
  observers.all.push_back({&collector, &collector});
  run([](const FakeHost& host) { return host.phase("forward"); });
  EXPECT_THAT(until_last_step(log), ElementsAre("arm", "before_steps", "synchronize", "step_begin", "phase_begin",
                                                "phase_end", "synchronize", "between_steps"));
}

TEST_F(PhasesTest, SyncPhaseWaitsAtTheBoundaries) {
  assignment.method.warmup = 0;
  assignment.method.steps = 1;
  assignment.method.sync = measure::Sync::kPhase;
  std::vector<std::string> log;
  FakeCollector collector(&log);
  observers.all.push_back({&collector, &collector});
  run([](const FakeHost& host) { return host.phase("forward"); });
  EXPECT_THAT(until_last_step(log),
              ElementsAre("arm", "before_steps", "synchronize", "step_begin", "synchronize", "phase_begin", "phase_end",
                          "synchronize", "synchronize", "between_steps"));
}

TEST_F(PhasesTest, NothingWaitsForADeviceThatCaptures) {
  assignment.method.warmup = 0;
  assignment.method.steps = 1;
  assignment.method.sync = measure::Sync::kPhase;
  std::vector<std::string> log;
  FakeCollector collector(&log);
  collector.capturing = true;
  observers.all.push_back({&collector, &collector});
  run([](const FakeHost& host) { return host.phase("forward"); });
  EXPECT_THAT(until_last_step(log), ElementsAre("arm", "before_steps", "synchronize", "step_begin", "phase_begin",
                                                "phase_end", "synchronize", "between_steps"));
}

TEST_F(PhasesTest, DeviceTimesComeFromTheTimer) {
  FakeCollector collector;
  observers.all.push_back({&collector, &collector});
  const PassResult result = run([](const FakeHost& host) {
    host.phase("forward");
    host.phase("backward");
    return host.phase("backward");
  });
  std::map<std::string, std::int64_t> device_ns;
  for (const auto& sample : result.record.samples) device_ns[sample.phase] = sample.device_ns.value_or(-1);
  EXPECT_EQ(device_ns["forward"], 100);
  EXPECT_EQ(device_ns["backward"], 200);
  EXPECT_EQ(device_ns["step"], 1000);
  EXPECT_EQ(device_ns["other"], 700);
}

}  // namespace
}  // namespace kymo::worker
