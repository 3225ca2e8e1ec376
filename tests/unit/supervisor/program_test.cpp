// SPDX-License-Identifier: Apache-2.0
#include "supervisor/program.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace kymo::supervisor {
namespace {

using measure::Outcome;
using measure::RunStatus;
using testing::HasSubstr;

class ProgramTest : public testing::Test {
 protected:
  ~ProgramTest() override { std::filesystem::remove(log_file); }
  /// The outcome of a program that no process of connected.
  Outcome unconnected(const std::string& text, ProcessEnd end = {.exit_code = 0, .signal = {}}) const {
    std::ofstream(log_file) << text;
    return outcome_of_program({.status = RunStatus::kCrashed, .detail = "before connecting"}, end, false, log_file);
  }
  std::filesystem::path log_file = std::filesystem::temp_directory_path() / ("kymo-log-" + std::to_string(getpid()));
};

TEST_F(ProgramTest, SaysWhyNothingWasObserved) {
  EXPECT_EQ(unconnected("").status, RunStatus::kFailed);
  EXPECT_THAT(unconnected("").detail, HasSubstr("with -S, or with -I or -E"));
  EXPECT_THAT(unconnected("python\n").detail, HasSubstr("never imported torch"));
  EXPECT_THAT(unconnected("python\n").detail, HasSubstr("with a PYTHONPATH that replaces"));  // of another process
  // A process of the program without torch does not hide the one with it.
  EXPECT_THAT(unconnected("python\ntorch\npython\n").detail, HasSubstr("no process called a torch.nn.Module"));
  EXPECT_THAT(unconnected("python\ntorch\nsteps 3\n").detail, HasSubstr("ended after 3 complete steps"));
  // The process with the most steps is the one that is closest to those to observe.
  EXPECT_THAT(unconnected("torch\nsteps 3\nsteps 0\nunstepped 1 call\n").detail, HasSubstr("after 3 complete steps"));
  EXPECT_EQ(unconnected("torch\nsteps 0\nunstepped 1 call was seen\n").detail,
            "the program has no complete step: 1 call was seen");
  EXPECT_THAT(unconnected("python\nerror the program uses torch 1\ntorch\n").detail, HasSubstr("uses torch 1"));
  EXPECT_THAT(unconnected("python\n", {.exit_code = 4, .signal = {}}).detail, HasSubstr("exit code 4"));
}

TEST_F(ProgramTest, NamesProcessesThatTrainedUnobserved) {
  const auto text_of = [&](const std::string& text, ObservedProcesses processes) {
    std::ofstream(log_file) << text;
    const auto warning = unobserved_processes_warning(log_file, processes);
    EXPECT_TRUE(!warning || warning->kind == "unobserved processes");
    return warning ? warning->detail : "";
  };
  const char* const spawned = "torch\ntrained 7 spawned python -c x\ntrained 8 spawned python -c x\n";
  EXPECT_EQ(text_of(spawned, ObservedProcesses::kFound),
            "2 other processes trained and were not observed: multiprocessing started them without a process group; "
            "--ranks 1 observes the first process that calls a module");
  EXPECT_EQ(text_of("trained 7 spawned python\ntrained 7 spawned python\n", ObservedProcesses::kFirst),
            "1 other process trained and was not observed: multiprocessing started it without a process group; "
            "--ranks 1 observes the first process that calls a module, and no other one");
  EXPECT_EQ(text_of("trained 7 command python child.py 1\n", ObservedProcesses::kFound),
            "1 other process trained and was not observed: observe the command of such a process itself: kymo trace -- "
            "python child.py 1");
  EXPECT_THAT(text_of("trained 7 forked python\n", ObservedProcesses::kFound),
              HasSubstr(": it is a fork without a process group; with the start method spawn, --ranks 1 observes"));
  EXPECT_THAT(text_of("trained 7 forked python\ntrained 8 command python\n", ObservedProcesses::kFound),
              HasSubstr(": 1 of them is a fork"));
  EXPECT_THAT(text_of(spawned, ObservedProcesses::kRanks), HasSubstr("only the ranks of a process group are observed"));
  EXPECT_EQ(text_of("trained 7 spawned python\njoined 7\ntrained\n", ObservedProcesses::kFound), "")
      << "it has become a rank";
  EXPECT_EQ(
      text_of("replaced 7 sh -c x\ntrained 7 command python\n", ObservedProcesses::kFound),
      "the program replaced itself (exec) within the steps to observe, and what followed was not observed: sh -c x");
  EXPECT_THAT(unconnected(spawned).detail, HasSubstr("nothing was observed: 2 processes trained"));
}

TEST_F(ProgramTest, SaysWhyThereIsNoStep) {
  std::ofstream(log_file) << "torch\nunstepped 10 module calls were seen\n";
  const Outcome none{.status = RunStatus::kFailed, .detail = "no step"};
  const Outcome outcome = outcome_of_program(none, {.exit_code = 0, .signal = {}}, true, log_file);
  EXPECT_EQ(outcome.detail, "no step; 10 module calls were seen");
}

TEST_F(ProgramTest, FailsWithTheProgram) {
  const Outcome ok;
  const Outcome exited = outcome_of_program(ok, {.exit_code = 3, .signal = {}}, true, log_file);
  EXPECT_EQ(exited.status, RunStatus::kFailed);
  EXPECT_EQ(exited.exit_code, 3);
  const Outcome killed = outcome_of_program(ok, {.exit_code = {}, .signal = 9}, true, log_file);
  EXPECT_EQ(killed.status, RunStatus::kCrashed);
  EXPECT_EQ(killed.signal, 9);
  const Outcome ended = outcome_of_program(ok, {.exit_code = 0, .signal = {}}, true, log_file);
  EXPECT_EQ(ended.status, RunStatus::kOk);
  EXPECT_EQ(ended.exit_code, 0);
}

TEST_F(ProgramTest, SaysHowTheProcessOfTheRankEnded) {
  std::ofstream(log_file) << "torch\nended 43 1\nended 42 -9\n";
  const Outcome crashed{.status = RunStatus::kCrashed, .detail = "rank 1 ended"};
  const auto detail_of = [&](pid_t pid) {
    return outcome_of_program(crashed, {.exit_code = 1, .signal = {}}, true, log_file, ObservedProcesses::kRanks, pid)
        .detail;
  };
  EXPECT_THAT(detail_of(42), HasSubstr("rank 1 ended; its process ended with signal 9"));
  EXPECT_THAT(detail_of(43), HasSubstr("its process ended with exit code 1"));
  EXPECT_EQ(detail_of(44), "rank 1 ended");
}

TEST_F(ProgramTest, KeepsTheReasonThatTheProgramReported) {
  const Outcome raised{.status = RunStatus::kOom, .detail = "MemoryError"};
  const Outcome outcome = outcome_of_program(raised, {.exit_code = 1, .signal = {}}, true, log_file);
  EXPECT_EQ(outcome.status, RunStatus::kOom);
  EXPECT_EQ(outcome.detail, "MemoryError");
}

TEST_F(ProgramTest, StopsByDefaultInTheTracePassOnAGpu) {
  PlannedRun run;
  run.what.device = measure::DeviceKind::kCuda;
  EXPECT_TRUE(stops(run, measure::Pass::kTrace));
  EXPECT_FALSE(stops(run, measure::Pass::kTime));
  run.program.stop = false;
  EXPECT_FALSE(stops(run, measure::Pass::kTrace));
  run.program.stop = true;
  EXPECT_TRUE(stops(run, measure::Pass::kTime));
  run.program.stop.reset();
  run.what.device = measure::DeviceKind::kCpu;
  EXPECT_FALSE(stops(run, measure::Pass::kTrace));
}

TEST_F(ProgramTest, LaterStepsAreMetricsOfTheirRank) {
  std::ofstream(log_file) << "python\ntorch\nlater 1 30 2500000\nlater x\nlater 0 4 1000\nunobserved 0 the training\n";
  const auto found = logged_metrics(log_file);
  ASSERT_EQ(found.size(), 2u);
  const std::vector<event::Metric>& metrics = found.at(1);
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].name, "later_steps");
  EXPECT_EQ(metrics[0].number, 30);
  EXPECT_EQ(metrics[1].name, "later_step_median");
  EXPECT_EQ(metrics[1].number, 2.5);
  EXPECT_EQ(metrics[1].unit, "ms");
  ASSERT_EQ(found.at(0).size(), 3u);
  EXPECT_EQ(found.at(0)[2].name, "not_observed");
  EXPECT_EQ(found.at(0)[2].text, "the training");
}

TEST_F(ProgramTest, BeginsTheMemoryPassWithThePreparationOfTheProgram) {
  measure::Method method;
  method.warmup = 3;
  method.observation.warmup = 3;
  const ObservedProgram program{.command = {"python"}, .skipped_steps = 7};
  EXPECT_EQ(method_of_program(program, method, measure::Pass::kOps).warmup, 3);
  const measure::Method memory = method_of_program(program, method, measure::Pass::kMemory);
  EXPECT_EQ(memory.warmup, 11);
  EXPECT_EQ(memory.observation.warmup, 11);
}

TEST_F(ProgramTest, RecordsEventsOfTenStepsOfAWindowWithoutAnEnd) {
  const Window open{.first = 100, .steps = measure::kMaxFreeSteps}, closed{.first = 5, .steps = 30};
  const auto steps = [](const Window& window, measure::Pass pass) {
    return measure::method_in(run_of_window(PlannedRun{}, window).method, pass).steps;
  };
  EXPECT_EQ(steps(open, measure::Pass::kOps), 10);
  EXPECT_EQ(steps(open, measure::Pass::kTime), measure::kMaxFreeSteps);
  EXPECT_EQ(steps(closed, measure::Pass::kOps), 30);
}

}  // namespace
}  // namespace kymo::supervisor
