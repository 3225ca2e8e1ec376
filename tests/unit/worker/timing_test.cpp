// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "unit/worker/engine_fixture.hpp"
#include "worker/batched_steps.hpp"
#include "worker/flushed_steps.hpp"
#include "worker/observed_steps.hpp"

namespace kymo::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Log = std::vector<std::string>;

constexpr std::int64_t kMs = 1'000'000;

class TimingTest : public EngineTest {
 protected:
  TimingTest() {
    workload.table().flags = KYMO_STEP_IS_ASYNCHRONOUS;
    workload.on_step = [this](const FakeHost& host) {
      if (host.begin("compute") != KYMO_OK) return static_cast<kymo_status>(KYMO_FAILED);
      log.emplace_back("work");
      return host.end();
    };
    workload.on_before_step = [this](const FakeHost&) {
      log.emplace_back("before_step");
      return KYMO_OK;
    };
  }

  void on_a_gpu() {
    assignment.what.device = measure::DeviceKind::kCuda;
    observers.all = {{&collector, &collector}};
  }
  PassResult timed(measure::Timing timing) {
    assignment.method.timing = timing;
    return run(workload);
  }
  /// Timing hot with batches of several steps: again if the processor was taken away for as long as a batch lasts while
  /// the size of the batch was sought.
  PassResult timed_in_batches() {
    PassResult result = timed(measure::Timing::kHot);
    for (int tries = 1; tries < 20 && result.outcome.status == RunStatus::kOk && steps_per_sample(result) == 1;
         ++tries) {
      log.clear();
      result = timed(measure::Timing::kHot);
    }
    return result;
  }
  /// The events from the k-th before_step to the next one.
  Log span(std::int64_t k) const {
    Log part;
    std::int64_t seen = -1;
    for (const std::string& what : log) {
      seen += what == "before_step" || what == "disarm";
      if (seen == k) part.push_back(what);
    }
    return part;
  }
  static double steps_per_sample(const PassResult& result) {
    for (const event::Metric& metric : result.record.metrics) {
      if (metric.name == "steps_per_sample") return metric.number.value_or(0);
    }
    return 0;
  }
  static std::vector<event::Sample> samples_of(const PassResult& result, const std::string& phase) {
    std::vector<event::Sample> samples;
    for (const event::Sample& sample : result.record.samples) {
      if (sample.phase == phase) samples.push_back(sample);
    }
    return samples;
  }

  Log log;
  FakeCollector collector{&log};
  FakeWorkload workload{{"compute"}};
};

TEST(BatchSizes, GrowUntilABatchLastsAMillisecond) {
  const std::int64_t step_ns = 7'000;
  BatchSize batch;
  int batches = 0;
  while (!batch.found()) {
    ASSERT_LT(++batches, 12);
    batch.measured(batch.steps() * step_ns);
  }
  EXPECT_GE(batch.steps() * step_ns, kMs);
  EXPECT_LE(batch.steps() * step_ns, 2 * kMs);
}

TEST(BatchSizes, TakeNoNoticeOfTheFirstStep) {
  BatchSize batch;
  batch.measured(500 * kMs);
  EXPECT_FALSE(batch.found());
  EXPECT_EQ(batch.steps(), 1);
}

TEST(BatchSizes, AreOneForALongStep) {
  BatchSize batch;
  for (int i = 0; i < 2; ++i) batch.measured(5 * kMs);
  EXPECT_TRUE(batch.found());
  EXPECT_EQ(batch.steps(), 1);
}

TEST(BatchSizes, AreBoundedEvenIfTheClockStandsStill) {
  BatchSize batch;
  for (int i = 0; i < 20 && !batch.found(); ++i) batch.measured(0);
  EXPECT_TRUE(batch.found());
  EXPECT_EQ(batch.steps(), 1000);
}

TEST(BatchSizes, ShrinkToOneStep) {
  BatchSize batch;
  for (int i = 0; i < 20 && !batch.found(); ++i) batch.measured(0);
  EXPECT_TRUE(batch.shrink());
  EXPECT_EQ(batch.steps(), 250);
  while (batch.shrink()) ASSERT_GE(batch.steps(), 1);
  EXPECT_EQ(batch.steps(), 1);
}

TEST_F(TimingTest, HotMakesOneSampleOfABatch) {
  on_a_gpu();
  const PassResult result = timed_in_batches();
  ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  const double batch = steps_per_sample(result);
  ASSERT_GT(batch, 1) << "a step that does nothing is far shorter than a millisecond";
  const auto steps = samples_of(result, "step");
  const auto phases = samples_of(result, "compute");
  ASSERT_EQ(steps.size(), 5u);
  ASSERT_EQ(phases.size(), 5u);
  // The device reports 1000 ns for each timed section and 100 for each phase entry.
  EXPECT_EQ(steps[0].device_ns, 1000) << "warm-up steps are single ones";
  EXPECT_EQ(phases[0].device_ns, 100);
  EXPECT_EQ(steps[4].device_ns, static_cast<std::int64_t>(1000 / batch + 0.5));
  EXPECT_EQ(phases[4].device_ns, 100);
  EXPECT_EQ(phases[4].calls, 1) << "of one step";
  EXPECT_GE(steps[4].host_ns, phases[4].host_ns);
}

TEST_F(TimingTest, HotAsksForABatchOnceAndWaitsOnce) {
  on_a_gpu();
  const PassResult result = timed(measure::Timing::kHot);
  const Log last = span(std::count(log.begin(), log.end(), "before_step") - 1);
  EXPECT_EQ(std::count(last.begin(), last.end(), "work"), static_cast<std::int64_t>(steps_per_sample(result)));
  Log order;
  for (const std::string& what : last) {
    if (order.empty() || what != order.back()) order.push_back(what);
  }
  std::erase_if(order,
                [](const std::string& what) { return what == "work" || what == "phase_begin" || what == "phase_end"; });
  EXPECT_THAT(order, ElementsAre("before_step", "synchronize", "step_begin", "begin_batch", "block", "end_batch",
                                 "release", "synchronize", "between_steps"));
}

TEST_F(TimingTest, HotHoldsMeasuredBatchesAndTheOneThatTriesIt) {
  on_a_gpu();
  const PassResult result = timed(measure::Timing::kHot);
  EXPECT_EQ(std::count(log.begin(), log.end(), "block"), 1 + 3);
  EXPECT_THAT(result.record.dropped_records, IsEmpty());
}

TEST_F(TimingTest, HotGoesOnUnheldWhereTheDeviceCannotTakeTheBatch) {
  on_a_gpu();
  collector.times_out = true;
  collector.step_ns = kMs;
  const PassResult result = timed_in_batches();
  ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  EXPECT_GT(steps_per_sample(result), 1) << "the launch is hidden among many steps at least";
  // From at most 1000 steps to one, a fourth at a time; a slow machine starts with fewer steps.
  EXPECT_THAT(std::count(log.begin(), log.end(), "block"), testing::AllOf(testing::Ge(2), testing::Le(6)));
  EXPECT_THAT(result.record.dropped_records, IsEmpty());
  ASSERT_EQ(result.record.warnings.size(), 1u);
  EXPECT_EQ(result.record.warnings[0].kind, "launch overhead");
  EXPECT_THAT(result.record.warnings[0].detail, HasSubstr("could not be enqueued within a second"));
  EXPECT_EQ(samples_of(result, "step").size(), 5u);
}

TEST_F(TimingTest, HotSaysSoIfItsStepsEnqueueNoWork) {
  on_a_gpu();
  // A step of the batch takes 50 ns or less, or 1,000 ns or more, however many the batch has.
  for (const std::int64_t batch_ns : {std::int64_t{50}, kMs}) {
    collector.step_ns = batch_ns;
    const PassResult result = timed(measure::Timing::kHot);
    ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
    if (batch_ns == kMs) {
      EXPECT_THAT(result.record.warnings, IsEmpty());
      continue;
    }
    ASSERT_EQ(result.record.warnings.size(), 1u);
    EXPECT_EQ(result.record.warnings[0].kind, "short steps");
    EXPECT_THAT(result.record.warnings[0].detail, HasSubstr("enqueues none on the stream of its phase"));
  }
}

TEST_F(TimingTest, HotTakesASingleLongStep) {
  workload.on_step = [](const FakeHost&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return KYMO_OK;
  };
  const PassResult result = timed(measure::Timing::kHot);
  EXPECT_EQ(steps_per_sample(result), 1);
  EXPECT_EQ(workload.count("step"), 2 + 2 + 3) << "warm-up, search, measured";
}

TEST_F(TimingTest, HotOnTheCpuDividesTheHostClock) {
  workload.on_step = [](const FakeHost& host) {
    host.begin("compute");
    const std::int64_t end_ns = now_ns() + 100'000;
    while (now_ns() < end_ns) {
    }
    return host.end();
  };
  const PassResult result = timed_in_batches();
  ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  EXPECT_GE(steps_per_sample(result), 2);
  for (const event::Sample& sample : samples_of(result, "step")) EXPECT_GE(sample.host_ns, 100'000);
  EXPECT_EQ(samples_of(result, "step").size(), 5u);
}

TEST_F(TimingTest, HotWithoutWarmupStillFindsItsBatch) {
  assignment.method.warmup = 0;
  const PassResult result = timed_in_batches();
  EXPECT_GT(steps_per_sample(result), 1);
  EXPECT_EQ(samples_of(result, "step").size(), 3u);
}

TEST_F(TimingTest, HotEndsInTheMiddleOfABatchIfAStepFails) {
  workload.on_step = [this](const FakeHost& host) {
    // Two warm-up steps and two batches of one step come first.
    return workload.count("step") == 6 ? host.fail(KYMO_FAILED, "enough") : static_cast<kymo_status>(KYMO_OK);
  };
  const PassResult result = timed(measure::Timing::kHot);
  EXPECT_EQ(result.outcome.status, RunStatus::kFailed);
  EXPECT_EQ(result.outcome.detail, "enough");
  EXPECT_EQ(workload.count("step"), 6);
}

TEST_F(TimingTest, HotNoticesAPhaseThatStaysOpen) {
  workload.on_step = [](const FakeHost& host) { return host.begin("compute"); };
  EXPECT_EQ(timed(measure::Timing::kHot).outcome.status, RunStatus::kFailed);
}

TEST_F(TimingTest, ColdFlushesThenHoldsThenReleases) {
  on_a_gpu();
  const PassResult result = timed(measure::Timing::kCold);
  ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  EXPECT_THAT(span(0), ElementsAre("before_step", "synchronize", "step_begin", "flush", "phase_begin", "work",
                                   "phase_end", "release", "synchronize", "between_steps"))
      << "a warm-up step is not held: it may have to set things up";
  EXPECT_THAT(span(2), ElementsAre("before_step", "synchronize", "step_begin", "flush", "block", "phase_begin", "work",
                                   "phase_end", "release", "synchronize", "between_steps"));
  EXPECT_EQ(samples_of(result, "step").size(), 5u);
  EXPECT_EQ(steps_per_sample(result), 0) << "a figure of hot alone";
}

TEST_F(TimingTest, ColdHoldsOnceAStepThatEntersItsPhaseTwice) {
  on_a_gpu();
  workload.on_step = [](const FakeHost& host) {
    return host.phase("compute") == KYMO_OK ? host.phase("compute") : KYMO_FAILED;
  };
  EXPECT_EQ(timed(measure::Timing::kCold).outcome.status, RunStatus::kOk);
  EXPECT_EQ(std::count(log.begin(), log.end(), "flush"), 5);
  EXPECT_EQ(std::count(log.begin(), log.end(), "block"), 3);
}

TEST_F(TimingTest, ColdWithoutWarmupMakesOneStepThatIsNotStored) {
  on_a_gpu();
  assignment.method.warmup = 0;
  const PassResult result = timed(measure::Timing::kCold);
  EXPECT_EQ(std::count(log.begin(), log.end(), "block"), 3);
  EXPECT_EQ(workload.count("step"), 4);
  EXPECT_EQ(samples_of(result, "step").size(), 3u);
}

TEST_F(TimingTest, ColdFailsAStepThatHadToBeReleased) {
  on_a_gpu();
  collector.times_out = true;
  const PassResult result = timed(measure::Timing::kCold);
  EXPECT_EQ(result.outcome.status, RunStatus::kFailed);
  EXPECT_THAT(result.outcome.detail, HasSubstr("synchronizes with the device"));
  EXPECT_EQ(result.outcome.detail.find('\n'), std::string::npos);
  EXPECT_EQ(result.outcome.step, 2);
  EXPECT_EQ(samples_of(result, "step").size(), 2u) << "what was measured before is kept";
}

TEST_F(TimingTest, ColdReleasesAStepThatFails) {
  on_a_gpu();
  workload.on_step = [](const FakeHost& host) {
    host.begin("compute");
    return host.fail(KYMO_FAILED, "no more");
  };
  assignment.method.warmup = 0;
  EXPECT_EQ(timed(measure::Timing::kCold).outcome.detail, "no more");
  EXPECT_EQ(std::count(log.begin(), log.end(), "release"), 1);
}

TEST_F(TimingTest, ColdNeedsAPhaseToHold) {
  on_a_gpu();
  workload.on_step = nullptr;
  const PassResult result = timed(measure::Timing::kCold);
  EXPECT_EQ(result.outcome.status, RunStatus::kFailed);
  EXPECT_THAT(result.outcome.detail, HasSubstr("did not enter its phase"));
}

TEST_F(TimingTest, ColdLeavesAGraphThatIsCapturedAlone) {
  on_a_gpu();
  collector.capturing = true;
  EXPECT_EQ(timed(measure::Timing::kCold).outcome.status, RunStatus::kOk);
  EXPECT_EQ(std::count(log.begin(), log.end(), "flush"), 0);
  EXPECT_EQ(std::count(log.begin(), log.end(), "block"), 0);
}

TEST_F(TimingTest, ColdOnTheCpuHoldsNothing) {
  assignment.method.steps = 1;
  assignment.method.warmup = 0;
  const PassResult result = timed(measure::Timing::kCold);
  EXPECT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  EXPECT_EQ(samples_of(result, "step").size(), 1u);
}

TEST_F(TimingTest, FreeSynchronizesNothing) {
  on_a_gpu();
  assignment.what.ranks = 2;
  int barriers = 0;
  control.on_barrier = [&](bool) {
    ++barriers;
    return Release::kGo;
  };
  const PassResult result = timed(measure::Timing::kFree);
  EXPECT_EQ(result.outcome.status, measure::RunStatus::kOk);
  EXPECT_THAT(log, testing::Not(testing::Contains("synchronize")));
  EXPECT_EQ(barriers, 0);
  EXPECT_THAT(samples_of(result, "compute"),
              testing::Each(testing::Field(&event::Sample::device_ns, testing::Eq(std::nullopt))));
  EXPECT_FALSE(collector.setting().times_steps);
  EXPECT_TRUE(collector.setting().adds_new_events);
  EXPECT_GT(collector.setting().reading_share, 0);
}

TEST_F(TimingTest, OtherTimingsLetCollectorsTakeTheirTime) {
  on_a_gpu();
  for (const auto timing : {measure::Timing::kSync, measure::Timing::kHot, measure::Timing::kCold}) {
    timed(timing);
    EXPECT_TRUE(collector.setting().times_steps);
    EXPECT_FALSE(collector.setting().adds_new_events);
    EXPECT_EQ(collector.setting().reading_share, 0);
  }
}

TEST_F(TimingTest, FreeKeepsTheStepsBeforeTheProgramEnded) {
  for (const measure::Pass pass : {measure::Pass::kTime, measure::Pass::kOps}) {
    assignment.pass = pass;
    assignment.method.warmup = assignment.method.observation.warmup = 2;
    assignment.method.steps = assignment.method.observation.steps = 10;
    std::int64_t steps = 0;
    workload.on_step = [&](const FakeHost& host) {
      if (++steps < 6) return host.phase("compute");
      host.begin("compute");  // the program ends within a phase
      return static_cast<kymo_status>(kProgramEnded);
    };
    const PassResult result = timed(measure::Timing::kFree);
    EXPECT_EQ(result.outcome.status, measure::RunStatus::kOk) << result.outcome.detail;
    EXPECT_EQ(samples_of(result, "step").size(), 5u);
    ASSERT_EQ(result.record.warnings.size(), 1u);
    EXPECT_EQ(result.record.warnings[0].kind, "fewer steps");
  }
}

TEST_F(TimingTest, FreeCountsProcessorTimeOnce) {
  const auto compute = [](std::int64_t ns) {
    const std::int64_t since_ns = process_usage().cpu_ns;
    while (process_usage().cpu_ns - since_ns < ns) {
    }
  };
  assignment.pass = measure::Pass::kTime;
  assignment.method.warmup = 1;
  assignment.method.steps = 30;  // some of them after a message to the supervisor
  workload.on_step = [&](const FakeHost& host) {
    compute(2'000'000);
    return host.phase("compute");
  };
  const std::int64_t before_ns = process_usage().cpu_ns;
  const PassResult result = timed(measure::Timing::kFree);
  const std::int64_t used_ns = process_usage().cpu_ns - before_ns;
  std::int64_t sum_ns = 0;
  for (const event::Sample& sample : samples_of(result, "step")) {
    EXPECT_GE(sample.cpu_ns.value(), 1'900'000) << sample.step;
    sum_ns += sample.cpu_ns.value();
  }
  EXPECT_GE(sum_ns, 31 * 1'900'000);
  EXPECT_LE(sum_ns, used_ns);
}

TEST_F(TimingTest, FreeFailsIfTheProgramEndsBeforeAMeasuredStep) {
  assignment.method.warmup = 2;
  std::int64_t steps = 0;
  workload.on_step = [&](const FakeHost& host) {
    return ++steps <= 2 ? host.phase("compute") : static_cast<kymo_status>(kProgramEnded);
  };
  const PassResult result = timed(measure::Timing::kFree);
  EXPECT_EQ(result.outcome.status, measure::RunStatus::kFailed);
  EXPECT_THAT(result.outcome.detail, HasSubstr("ended after 2 complete steps"));
}

TEST_F(TimingTest, FreeFailsIfTheProgramEndsInItsFirstStep) {
  workload.on_step = [](const FakeHost&) { return static_cast<kymo_status>(kProgramEnded); };
  EXPECT_EQ(timed(measure::Timing::kFree).outcome.detail, "the program ended before the end of the first step");
}

TEST_F(TimingTest, OtherTimingsHaveNoEndOfAProgram) {
  workload.on_step = [](const FakeHost&) { return static_cast<kymo_status>(kProgramEnded); };
  EXPECT_EQ(timed(measure::Timing::kSync).outcome.status, measure::RunStatus::kFailed);
}

TEST_F(TimingTest, OtherPassesAreMadeInSync) {
  on_a_gpu();
  assignment.pass = measure::Pass::kTrace;
  const PassResult result = timed(measure::Timing::kHot);
  EXPECT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  EXPECT_EQ(std::count(log.begin(), log.end(), "begin_batch"), 0);
  EXPECT_EQ(steps_per_sample(result), 0);
}

TEST_F(TimingTest, RejectsAStepThatMayWait) {
  workload.table().flags = 0;
  for (const auto timing : {measure::Timing::kHot, measure::Timing::kCold}) {
    const PassResult result = timed(timing);
    EXPECT_EQ(result.outcome.status, RunStatus::kFailed);
    EXPECT_THAT(result.outcome.detail, HasSubstr("asynchronous"));
  }
}

TEST_F(TimingTest, TimeTheOnePhaseThatAStepEntersOfSeveral) {
  on_a_gpu();
  FakeWorkload several({"forward", "backward"});
  several.table().flags = KYMO_STEP_IS_ASYNCHRONOUS;
  several.on_step = [](const FakeHost& host) { return host.phase("backward"); };
  for (const auto timing : {measure::Timing::kHot, measure::Timing::kCold}) {
    assignment.method.timing = timing;
    const PassResult result = run(several);
    ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
    EXPECT_EQ(samples_of(result, "backward").size(), 5u) << to_string(timing);
    EXPECT_THAT(samples_of(result, "forward"), IsEmpty()) << to_string(timing);
  }
}

TEST_F(TimingTest, RejectAStepThatEntersASecondPhase) {
  on_a_gpu();
  FakeWorkload several({"forward", "backward"});
  several.table().flags = KYMO_STEP_IS_ASYNCHRONOUS;
  several.on_step = [](const FakeHost& host) {
    return host.phase("forward") == KYMO_OK ? host.phase("backward") : KYMO_FAILED;
  };
  for (const auto timing : {measure::Timing::kHot, measure::Timing::kCold}) {
    assignment.method.timing = timing;
    const PassResult result = run(several);
    EXPECT_EQ(result.outcome.status, RunStatus::kFailed) << to_string(timing);
    EXPECT_THAT(result.outcome.detail, HasSubstr("'backward' after 'forward'"));
    EXPECT_EQ(result.outcome.detail.find('\n'), std::string::npos);
    EXPECT_THAT(samples_of(result, "forward"), IsEmpty()) << "half a step is no sample";
  }
  assignment.method.timing = measure::Timing::kSync;
  EXPECT_EQ(run(several).outcome.status, RunStatus::kOk);
}

TEST(HostCaches, AreFilledByMoreThanTheirSize) {
  EXPECT_GT(host_cache_bytes(), 0u);
  HostCache cache(1 << 20);
  EXPECT_GT(cache.size_bytes(), std::size_t{1} << 20);
  cache.flush();
}

}  // namespace
}  // namespace kymo::worker
