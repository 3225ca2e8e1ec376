// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <optional>
#include <stdexcept>

#include "unit/worker/engine_fixture.hpp"

namespace kymo::worker {
namespace {

using measure::Pass;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::int64_t> steps_of(const event::PassRecord& record, const std::string& phase) {
  std::vector<std::int64_t> steps;
  for (const auto& sample : record.samples) {
    if (sample.phase == phase) steps.push_back(sample.step);
  }
  return steps;
}

TEST_F(EngineTest, MakesWarmupAndSteps) {
  FakeWorkload workload;
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kOk);
  EXPECT_THAT(workload.calls,
              ElementsAre("create", "prepare", "before_step", "step", "before_step", "step", "before_step", "step",
                          "before_step", "step", "before_step", "step", "destroy"));
  ASSERT_EQ(result.record.samples.size(), 5u);
  for (const auto& sample : result.record.samples) {
    EXPECT_EQ(sample.phase, "step");
    EXPECT_EQ(sample.warmup, sample.step < 2);
    EXPECT_GE(sample.host_ns, 0);
    EXPECT_GE(sample.start_ns, 0);
  }
  EXPECT_GT(result.record.memory.resident_bytes.value_or(0), 0);
}

TEST_F(EngineTest, ReportsStagesOnceAndStepsSeldom) {
  assignment.method.steps = 2000;
  FakeWorkload workload;
  run(workload);
  std::vector<std::string> stages;
  for (const auto& progress : control.progress) {
    if (stages.empty() || stages.back() != progress.stage) stages.push_back(progress.stage);
  }
  EXPECT_THAT(stages, ElementsAre("create", "prepare", "warmup", "step"));
  EXPECT_LT(control.progress.size(), 200u);
  EXPECT_EQ(control.progress.back().steps, 2002);
}

TEST_F(EngineTest, GivesParametersInTheirDeclaredTypes) {
  FakeWorkload workload;
  const auto declare = [&](const char* name, std::uint32_t type) {
    kymo_parameter parameter{};
    parameter.size = sizeof(parameter);
    parameter.type = type;
    parameter.name = name;
    workload.parameters.push_back(parameter);
  };
  declare("n", KYMO_INT);
  declare("scale", KYMO_REAL);
  declare("causal", KYMO_BOOL);
  declare("dtype", KYMO_CHOICE);
  declare("left_out", KYMO_INT);
  workload.parameters.back().default_value.type = KYMO_INT;
  workload.parameters.back().default_value.integer = 42;
  workload.publish_parameters();
  assignment.what.parameters = {
      {"n", std::int64_t{8}}, {"scale", std::int64_t{2}}, {"causal", true}, {"dtype", std::string("bf16")}};
  std::vector<kymo_value> values(5);
  kymo_status unknown = KYMO_OK;
  std::string dtype;
  workload.on_prepare = [&](const FakeHost& host) {
    const char* names[] = {"n", "scale", "causal", "dtype", "left_out"};
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(host.host->parameter(host.context, names[i], &values[i]), KYMO_OK) << names[i];
    dtype = values[3].text;
    kymo_value value;
    unknown = host.host->parameter(host.context, "m", &value);
    return KYMO_OK;
  };
  EXPECT_EQ(run(workload).outcome.status, RunStatus::kOk);
  EXPECT_EQ(values[0].integer, 8);
  EXPECT_EQ(values[1].type, static_cast<std::uint32_t>(KYMO_REAL));
  EXPECT_EQ(values[1].real, 2.0);
  EXPECT_EQ(values[2].boolean, 1);
  EXPECT_EQ(values[3].type, static_cast<std::uint32_t>(KYMO_CHOICE));
  EXPECT_EQ(dtype, "bf16");
  EXPECT_EQ(values[4].integer, 42);
  EXPECT_EQ(unknown, KYMO_FAILED);
}

TEST_F(EngineTest, ReportsTheStatusOfThisRank) {
  assignment.what.ranks = 4;
  assignment.rank = 3;
  assignment.local_rank = 1;
  assignment.device_index = 2;
  assignment.rendezvous_port = 4321;
  assignment.method.seed = 99;
  FakeWorkload workload;
  workload.on_prepare = [&](const FakeHost& host) {
    const kymo_placement& placement = *host.host->placement(host.context);
    EXPECT_EQ(placement.rank, 3);
    EXPECT_EQ(placement.world_size, 4);
    EXPECT_EQ(placement.local_rank, 1);
    EXPECT_EQ(placement.device, KYMO_CPU);
    EXPECT_EQ(placement.device_index, 0);
    EXPECT_STREQ(placement.rendezvous_host, "127.0.0.1");
    EXPECT_EQ(placement.rendezvous_port, 4321u);
    EXPECT_EQ(host.host->seed(host.context), 99u);
    return KYMO_OK;
  };
  EXPECT_EQ(run(workload).outcome.status, RunStatus::kOk);
  EXPECT_EQ(control.stops.size(), 5u) << "one barrier before each step";
}

TEST_F(EngineTest, KeepsWhatTheWorkloadReports) {
  FakeWorkload workload({"compute"});
  workload.on_prepare = [](const FakeHost& host) {
    host.host->work(host.context, "compute", 100, 10);
    host.host->work(host.context, "compute", 20, 2);
    host.host->work(host.context, "step", 7, 0);
    host.host->metric_text(host.context, KYMO_PER_RUN, "backend", "flash");
    return KYMO_OK;
  };
  workload.on_step = [](const FakeHost& host) {
    host.begin("compute");
    host.host->metric_number(host.context, KYMO_PER_PHASE, "loss", 1.5, "nat");
    host.end();
    host.host->metric_number(host.context, KYMO_PER_STEP, "tokens", 64, "");
    host.host->mark(host.context, "done");
    return KYMO_OK;
  };
  const event::PassRecord record = run(workload).record;
  ASSERT_EQ(record.work.size(), 2u);
  EXPECT_EQ(record.work[0].flops, 120);
  EXPECT_EQ(record.work[0].bytes, 12);
  ASSERT_EQ(record.metrics.size(), 11u);
  EXPECT_EQ(record.metrics[0].text, "flash");
  EXPECT_EQ(record.metrics[0].step, -1);
  EXPECT_EQ(record.metrics[3].phase, "compute");
  EXPECT_EQ(record.metrics[3].step, 1);
  EXPECT_EQ(record.metrics[4].level, event::MetricLevel::kStep);
  EXPECT_EQ(record.metrics[4].phase, "");
  std::vector<std::int64_t> marked;
  for (const auto& mark : record.marks) {
    if (mark.name == "done") marked.push_back(mark.step);
  }
  EXPECT_THAT(marked, ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(EngineTest, SkippedSaysWhyAndMakesNoSteps) {
  FakeWorkload workload;
  workload.on_prepare = [](const FakeHost& host) {
    host.host->skip(host.context, "bf16 needs a GPU");
    return KYMO_SKIPPED;
  };
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kSkipped);
  EXPECT_EQ(result.outcome.detail, "bf16 needs a GPU");
  EXPECT_EQ(result.outcome.stage, "prepare");
  EXPECT_THAT(workload.calls, ElementsAre("create", "prepare", "destroy"));
}

TEST_F(EngineTest, GivesUpAfterTwoStepsThatAreTooSlow) {
  assignment.method.max_pass_time_s = 1e-9;  // no step is faster
  FakeWorkload workload;
  std::optional<FakeHost> seen;
  bool was_cancelled = false;
  workload.on_step = [&](const FakeHost& host) {
    seen = host;
    return KYMO_OK;
  };
  workload.on_destroy = [&] { was_cancelled = seen->host->cancelled(seen->context) != 0; };
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kSkipped);
  EXPECT_THAT(result.outcome.detail,
              testing::MatchesRegex("too slow: a step takes [0-9.]+ [^ ]+, so that 5 steps would "
                                    "take .* \\(--max-pass-time\\)"));
  EXPECT_EQ(workload.count("step"), 2);
  EXPECT_TRUE(was_cancelled) << "a training must not be judged by the steps that it made";
}

TEST_F(EngineTest, RankZeroGivesUpForAllRanks) {
  assignment.method.max_pass_time_s = 1e-9;
  assignment.what.ranks = 2;
  FakeWorkload first;
  EXPECT_EQ(run(first).outcome.status, RunStatus::kSkipped);
  EXPECT_THAT(control.stops, ElementsAre(false, false, true));
  assignment.rank = 1;
  FakeWorkload second;
  EXPECT_EQ(run(second).outcome.status, RunStatus::kOk) << "it is told to stop, not why";
}

TEST_F(EngineTest, AGenerousLimitChangesNothing) {
  assignment.method.max_pass_time_s = 3600;
  FakeWorkload workload;
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kOk);
  EXPECT_EQ(workload.count("step"), 5);
  EXPECT_THAT(steps_of(result.record, "step"), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(EngineTest, AFailedCreateIsNotPrepared) {
  FakeWorkload workload;
  workload.on_create = [](const FakeHost& host) { return host.fail(KYMO_FAILED, "no"); };
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.stage, "create");
  EXPECT_EQ(workload.count("prepare"), 0);
}

TEST_F(EngineTest, AFailureKeepsTheStepsBeforeIt) {
  FakeWorkload workload({"forward", "backward"});
  workload.on_step = [&](const FakeHost& host) {
    EXPECT_EQ(host.phase("forward"), KYMO_OK);
    host.begin("backward");
    if (workload.count("step") == 4) return host.fail(KYMO_OUT_OF_MEMORY, "CUDA out of memory");
    return host.end();
  };
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kOom);
  EXPECT_EQ(result.outcome.stage, "step");
  EXPECT_EQ(result.outcome.step, 3);
  EXPECT_EQ(result.outcome.phase, "backward");
  EXPECT_THAT(steps_of(result.record, "step"), ElementsAre(0, 1, 2));
  ASSERT_TRUE(result.record.out_of_memory);
  EXPECT_EQ(workload.calls.back(), "destroy");
  EXPECT_TRUE(control.progress.back().failing) << "said before it cleared up";
}

/// Like the façade's phase object: ends the phase during stack unwinding.
struct PhaseGuard {
  const FakeHost& host;
  ~PhaseGuard() { host.end(); }
};

TEST_F(EngineTest, APhaseThatAnExceptionLeftIsNamed) {
  FakeWorkload workload({"forward"});
  workload.on_step = [](const FakeHost& host) {
    try {
      host.begin("forward");
      const PhaseGuard guard{host};
      throw std::runtime_error("shape mismatch");
    } catch (const std::runtime_error& error) {
      return host.fail(KYMO_FAILED, error.what());
    }
  };
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kFailed);
  EXPECT_EQ(result.outcome.phase, "forward");
  EXPECT_EQ(result.outcome.detail, "shape mismatch");
}

TEST_F(EngineTest, ExceptionsThatCrossTheBoundaryAreCaught) {
  FakeWorkload workload;
  workload.on_step = [](const FakeHost&) -> kymo_status { throw std::runtime_error("boom"); };
  EXPECT_THAT(run(workload).outcome.detail, HasSubstr("boom"));
  workload.on_step = [](const FakeHost&) -> kymo_status { throw std::bad_alloc(); };
  EXPECT_EQ(run(workload).outcome.status, RunStatus::kOom);
  workload.on_step = [](const FakeHost&) -> kymo_status { throw 7; };
  EXPECT_EQ(run(workload).outcome.status, RunStatus::kFailed);
  workload.on_step = nullptr;
  workload.on_destroy = [] { throw std::runtime_error("late"); };
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kFailed);
  EXPECT_EQ(steps_of(result.record, "step").size(), 5u);
}

TEST_F(EngineTest, AMessageDuringDestroyFailsTheRun) {
  FakeWorkload workload;
  FakeHost host;
  workload.on_create = [&](const FakeHost& given) {
    host = given;
    return kymo_status{KYMO_OK};
  };
  workload.on_destroy = [&] { host.fail(KYMO_FAILED, "the result is wrong"); };
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kFailed);
  EXPECT_EQ(result.outcome.detail, "the result is wrong");
  EXPECT_EQ(steps_of(result.record, "step").size(), 5u);
}

TEST_F(EngineTest, TheFirstMessageIsKept) {
  FakeWorkload workload;
  workload.on_step = [](const FakeHost& host) {
    host.fail(KYMO_FAILED, "the cause");
    return host.fail(KYMO_FAILED, "what followed");
  };
  EXPECT_EQ(run(workload).outcome.detail, "the cause");
}

TEST_F(EngineTest, RejectsWhatItCannotMake) {
  FakeWorkload workload;
  assignment.what.workload = "other_one";
  EXPECT_THAT(run(workload).outcome.detail, HasSubstr("other_one"));
  for (const std::int64_t steps : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    assignment = fake_assignment();
    assignment.method.steps = steps;
    EXPECT_EQ(run(workload).outcome.status, RunStatus::kFailed) << steps;
  }
  EXPECT_THAT(workload.calls, IsEmpty());
  for (const auto& phases : {std::vector<const char*>{"step"}, {"other"}, {"a", "b", "a"}}) {
    FakeWorkload liar(phases);
    assignment = fake_assignment();
    EXPECT_EQ(run(liar).outcome.status, RunStatus::kFailed);
    EXPECT_THAT(liar.calls, IsEmpty());
  }
}

TEST_F(EngineTest, CancelBetweenStepsKeepsWhatWasMeasured) {
  control.cancel_at_poll = 4;  // once after prepare, then before each step
  FakeWorkload workload;
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kInterrupted);
  EXPECT_THAT(steps_of(result.record, "step"), ElementsAre(0, 1, 2));
  EXPECT_EQ(workload.calls.back(), "destroy");
}

TEST_F(EngineTest, CancelAtABarrierInterrupts) {
  assignment.what.ranks = 2;
  control.on_barrier = [&](bool) { return control.stops.size() == 3 ? Release::kCancelled : Release::kGo; };
  FakeWorkload workload;
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kInterrupted);
  EXPECT_EQ(workload.count("step"), 2);
}

TEST_F(EngineTest, AWorkloadLearnsThatItIsCancelled) {
  control.cancel_at_poll = 0;
  FakeWorkload workload;
  std::int32_t seen = 0;
  workload.on_prepare = [&](const FakeHost& host) {
    seen = host.host->cancelled(host.context);
    return KYMO_OK;
  };
  EXPECT_EQ(run(workload).outcome.status, RunStatus::kInterrupted);
  EXPECT_NE(seen, 0);
}

TEST_F(EngineTest, ALostConnectionEndsThePass) {
  control.lost_at_stage = "warmup";
  FakeWorkload workload;
  EXPECT_THROW(run(workload), ConnectionLost);
}

TEST_F(EngineTest, AConnectionLostWithinAServiceEndsThePass) {
  assignment.what.ranks = 2;
  control.on_gather = [](const std::string&) -> std::optional<std::vector<std::string>> {
    throw ConnectionLost("gone");
  };
  FakeWorkload workload;
  workload.on_prepare = [](const FakeHost& host) {
    int mine = 1;
    int all[2];
    return host.host->all_gather_bytes(host.context, &mine, sizeof(mine), all);
  };
  EXPECT_THROW(run(workload), ConnectionLost);
}

}  // namespace
}  // namespace kymo::worker
