// SPDX-License-Identifier: Apache-2.0
#include <extension/step_records.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "store/journal_recovery.hpp"
#include "store/step_journal.hpp"
#include "unit/worker/engine_fixture.hpp"
#include "worker/observed_steps.hpp"

namespace kymo::worker {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kEngineNotDueYet = 1'000'000'000'000;

/// A program that times its steps, as the extension does.
class StepRecordsTest : public EngineTest {
 protected:
  StepRecordsTest() {
    records = &step_records;
    assignment.method.timing = measure::Timing::kFree;
    assignment.method.warmup = 12;
    assignment.method.steps = 30;
    workload.on_step = [this](const FakeHost& host) {
      step_records.due_ns = now_ns() + kEngineNotDueYet;  // so that the test does not depend on the machine
      record_step_begin();
      kymo_status status = KYMO_OK;
      do {
        status = run_step(host);
        if (status != KYMO_OK) return status;
      } while (record_step_end(0));
      at_once.push_back(step_records.count);
      return status;
    };
  }

  kymo_status run_step(const FakeHost& host) {
    record_phase_change(kNoPhase, kForward);
    record_phase_change(kForward, kNoPhase);
    record_phase_change(kNoPhase, kBackward);
    record_phase_change(kBackward, kForward);  // a recomputation
    record_phase_change(kForward, kBackward);
    record_phase_change(kBackward, kNoPhase);
    const kymo_status status = in_step ? in_step(host, steps) : static_cast<kymo_status>(KYMO_OK);
    ++steps;
    return status;
  }

  std::vector<event::Sample> samples_of(const std::string& phase) {
    std::vector<event::Sample> found = result.record.samples;
    std::erase_if(found, [&](const event::Sample& sample) { return sample.phase != phase; });
    return found;
  }

  FakeWorkload workload{{"data_loading", "forward", "backward", "optimizer"}};
  std::function<kymo_status(const FakeHost&, std::int64_t)> in_step;
  std::int64_t steps = 0;
  std::vector<std::uint32_t> at_once;
  PassResult result;
};

TEST_F(StepRecordsTest, AreThoseOfThePass) {
  result = run(workload);
  ASSERT_EQ(result.outcome.status, measure::RunStatus::kOk) << result.outcome.detail;
  const auto whole = samples_of("step");
  ASSERT_EQ(whole.size(), 42u);
  std::int64_t end_ns = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(whole[i].step, static_cast<std::int64_t>(i));
    EXPECT_EQ(whole[i].warmup, i < 12);
    EXPECT_EQ(whole[i].device_ns, std::nullopt);
    EXPECT_GE(whole[i].start_ns, end_ns);
    if (i > 12) {
      EXPECT_EQ(whole[i].start_ns, end_ns) << "one reading of the clock ends a step and begins the next one";
    }
    end_ns = whole[i].start_ns + whole[i].host_ns;
  }
  for (const event::Sample& forward : samples_of("forward")) EXPECT_EQ(forward.calls, 2);
  EXPECT_EQ(samples_of("backward").size(), 42u);
  EXPECT_EQ(samples_of("optimizer").size(), 0u);
  EXPECT_EQ(step_records.limit, 0u) << "the pass is over";
}

TEST_F(StepRecordsTest, AreProcessedOneByOneAtFirst) {
  result = run(workload);
  EXPECT_THAT(at_once, ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 30)) << "the warm-up steps by themselves";
}

TEST_F(StepRecordsTest, HaveTheMeanProcessorTimeOfThoseProcessedAtOnce) {
  in_step = [](const FakeHost&, std::int64_t) {
    const std::int64_t since_ns = process_usage().cpu_ns;
    while (process_usage().cpu_ns - since_ns < 2'000'000) {
    }
    return static_cast<kymo_status>(KYMO_OK);
  };
  result = run(workload);
  const auto whole = samples_of("step");
  ASSERT_EQ(whole.size(), 42u);
  for (const event::Sample& sample : whole) EXPECT_GE(sample.cpu_ns.value(), 1'900'000) << sample.step;
  EXPECT_EQ(whole[20].cpu_ns, whole[30].cpu_ns);
  EXPECT_EQ(whole[40].involuntary_switches, std::nullopt);
  EXPECT_GE(whole[41].involuntary_switches.value(), 0) << "of all since the last value";
  ASSERT_FALSE(result.record.scheduling.empty());
  EXPECT_EQ(result.record.scheduling.back().step, 41);
  std::int64_t scheduled = 0;
  for (const event::Scheduling& block : result.record.scheduling) scheduled += block.steps;
  EXPECT_EQ(scheduled, 30);
}

TEST_F(StepRecordsTest, BeforeTheEndOfTheProgramAreKept) {
  in_step = [](const FakeHost&, std::int64_t step) {
    return step == 17 ? static_cast<kymo_status>(kProgramEnded) : static_cast<kymo_status>(KYMO_OK);
  };
  result = run(workload);
  EXPECT_EQ(result.outcome.status, measure::RunStatus::kOk) << result.outcome.detail;
  const auto whole = samples_of("step");
  ASSERT_EQ(whole.size(), 17u);
  EXPECT_TRUE(whole[11].cpu_ns);
  EXPECT_FALSE(whole[16].cpu_ns) << "the usage is also that of a step that is not complete";
}

TEST_F(StepRecordsTest, BeforeAFailureAreKept) {
  in_step = [](const FakeHost& host, std::int64_t step) {
    return step == 17 ? host.fail(KYMO_FAILED, "no data") : static_cast<kymo_status>(KYMO_OK);
  };
  result = run(workload);
  EXPECT_EQ(result.outcome.status, measure::RunStatus::kFailed);
  EXPECT_EQ(samples_of("step").size(), 17u);
}

TEST_F(StepRecordsTest, HaveTheMetricsOfTheirOwn) {
  in_step = [](const FakeHost& host, std::int64_t step) {
    if (step == 5 || step == 23) host.host->metric_number(host.context, KYMO_PER_STEP, "loss", 1, "");
    return static_cast<kymo_status>(KYMO_OK);
  };
  result = run(workload);
  ASSERT_EQ(result.record.metrics.size(), 2u);
  EXPECT_EQ(result.record.metrics[0].step, 5);
  EXPECT_EQ(result.record.metrics[1].step, 23);
}

TEST_F(StepRecordsTest, EndWhenTheEngineIsDue) {
  workload.on_step = [this](const FakeHost& host) {
    record_step_begin();
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      run_step(host);
    } while (record_step_end(0));
    at_once.push_back(step_records.count);
    return static_cast<kymo_status>(KYMO_OK);
  };
  assignment.method.warmup = 11;
  assignment.method.steps = 6;
  result = run(workload);
  EXPECT_EQ(result.outcome.status, measure::RunStatus::kOk) << result.outcome.detail;
  ASSERT_GT(at_once.size(), 12u);
  at_once.erase(at_once.begin(), at_once.begin() + 11);
  EXPECT_LE(*std::ranges::max_element(at_once), 3u) << "50 ms";
}

TEST_F(StepRecordsTest, AreTimedByTheEngineInOtherPasses) {
  assignment.pass = measure::Pass::kOps;
  workload.on_step = [](const FakeHost& host) {
    EXPECT_FALSE(are_steps_recorded());
    return host.phase("forward");
  };
  result = run(workload);
  EXPECT_EQ(result.outcome.status, measure::RunStatus::kOk) << result.outcome.detail;
}

class JournalOfStepRecords : public StepRecordsTest {
 protected:
  JournalOfStepRecords() {
    std::string name = std::filesystem::temp_directory_path() / "kymo-records-XXXXXX";
    if (!mkdtemp(name.data())) throw Error("mkdtemp");
    folder = name;
  }
  ~JournalOfStepRecords() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
};

TEST_F(JournalOfStepRecords, HasThoseOfAKilledProgram) {
  const std::filesystem::path rank_file = folder / "RUN-7-0-time.kymo";
  assignment.method.warmup = 2;
  assignment.method.steps = 5000;  // several chunks of the journal
  const pid_t child = fork();
  if (child == 0) {
    store::StepJournal opened(rank_file, {.warmup = 2, .steps = 5000, .device = {}});
    journal = &opened;
    in_step = [](const FakeHost& host, std::int64_t step) {
      if (step == 50) host.host->metric_number(host.context, KYMO_PER_STEP, "loss", 1, "");
      if (step == 4321) raise(SIGKILL);
      return static_cast<kymo_status>(KYMO_OK);
    };
    run(workload);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(store::recover_from_journal(rank_file, 7, 0, measure::Pass::kTime, "damaged"), 4319);
}

}  // namespace
}  // namespace kymo::worker
