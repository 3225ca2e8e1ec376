// SPDX-License-Identifier: Apache-2.0
// Runs of whole commands.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "unit/supervisor/supervised.hpp"

namespace kymo::supervisor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class CommandRuns : public testing::Test {
 protected:
  /// A run with one execution of a script.
  static PlannedRun script(const std::string& text) {
    PlannedRun run = fake_run();
    run.what.workload = text;
    run.method.until = measure::StoppingRule{};
    run.method.until->min_samples = 1;
    run.method.until->min_seconds = 0;
    run.command.words = {"sh", "-c", text};
    run.command.device.uuid = "cpu-1";
    run.command.device.kind = "cpu";
    run.command.device.name = "a processor";
    return run;
  }
  Summary make(const std::vector<PlannedRun>& runs) {
    Summary summary = execute_runs(db_.database, db_.invocation, runs, {});
    EXPECT_FALSE(std::filesystem::exists(db_.scratch_root()));
    return summary;
  }
  std::string path(const char* name) const { return (db_.folder / name).string(); }
  std::string content(const char* name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> lines(const std::string& sql) const { return db_.lines(sql); }

  TemporaryDatabase db_;
};

TEST_F(CommandRuns, AreStepsAfterWarmUp) {
  PlannedRun run = script("exit 0");
  run.method.warmup = 2;
  run.method.until->min_samples = 3;
  PlannedRun again = run;
  again.repetition = 1;
  EXPECT_EQ(make({run, again}).runs.at(0).status, measure::RunStatus::kOk);
  EXPECT_THAT(lines("SELECT step, phase, warmup, host_ns > 0, cpu_ns >= 0 FROM sample WHERE run_id = 1 ORDER BY step"),
              ElementsAre("0|step|1|1|1", "1|step|1|1|1", "2|step|0|1|1", "3|step|0|1|1", "4|step|0|1|1"));
  EXPECT_THAT(lines("SELECT count(*), sum(warmup) FROM sample WHERE run_id = 2"), ElementsAre("3|0"));
  EXPECT_THAT(lines("SELECT count FROM statistic"), ElementsAre("3", "3"));
  EXPECT_THAT(lines("SELECT DISTINCT d.name, r.workload, r.status FROM run r JOIN rank k USING (run_id) JOIN device d "
                    "USING (device_id)"),
              ElementsAre("a processor|exit 0|ok"));
}

TEST_F(CommandRuns, LastAtLeastAsLongAsAsked) {
  PlannedRun run = script("exit 0");
  run.method.until->min_seconds = 0.05;
  make({run});
  EXPECT_THAT(lines("SELECT sum(host_ns) >= 50000000 FROM sample"), ElementsAre("1"));
}

TEST_F(CommandRuns, UseTheProcessorAndMemoryOfTheProcessesThatTheyWaitFor) {
  make({script("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; true"),
        script("head -c 100000000 /dev/zero | tail -c 100000000 > /dev/null; true")});
  EXPECT_THAT(lines("SELECT cpu_ns > 20000000 FROM sample WHERE run_id = 1"), ElementsAre("1"));
  // Memory below that of the process that forks it, which sanitizers let grow, is not known.
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  const bool is_known = own.ru_maxrss < 50'000;
  EXPECT_THAT(lines("SELECT resident_peak_bytes > 90000000 FROM rank WHERE run_id = 2"),
              ElementsAre(testing::AnyOf("1", is_known ? "1" : "NULL")));
}

TEST_F(CommandRuns, AFailureNamesTheCommandAndItsLastLines) {
  PlannedRun accepted = script("exit 3");
  accepted.command.ignores_failure = true;
  const Summary summary =
      make({script("echo out; for i in 1 2 3 4; do echo line $i >&2; done; exit 3"), script("kill -9 $$"), accepted});
  EXPECT_EQ(
      summary.runs.at(0).detail,
      "the command 'echo out; for i in 1 2 3 4; do echo line $i >&2; done; exit 3' ended with exit code 3: line 2 "
      "| line 3 | line 4");
  EXPECT_THAT(lines("SELECT status, exit_code, signal FROM run ORDER BY run_id"),
              ElementsAre("failed|3|NULL", "crashed|NULL|9", "ok|NULL|NULL"));
  EXPECT_THAT(lines("SELECT stdout || stderr FROM rank WHERE run_id = 1"),
              ElementsAre("line 1\nline 2\nline 3\nline 4\n"));
  EXPECT_THAT(lines("SELECT run_id FROM sample"), ElementsAre("3"));
}

TEST_F(CommandRuns, DiscardTheirOutputUnlessItIsToBeStored) {
  PlannedRun stored = script("echo out; echo err >&2");
  stored.command.stores_output = true;
  make({script("echo out; echo err >&2; test -c /dev/stdout"), stored});
  EXPECT_THAT(lines("SELECT r.status, k.stdout, k.stderr FROM rank k JOIN run r USING (run_id) ORDER BY run_id"),
              ElementsAre("ok||err\n", "ok|out\n|err\n"));
}

TEST_F(CommandRuns, ArePreparedBeforeEachExecution) {
  PlannedRun run = script("test -e " + path("ready") + " && rm " + path("ready"));
  run.command.prepare = {"sh", "-c", "touch " + path("ready") + "; echo x >> " + path("count")};
  run.method.warmup = 1;
  run.method.until->min_samples = 2;
  PlannedRun unprepared = script("exit 0");
  unprepared.command.prepare = {"sh", "-c", "echo why >&2; exit 1"};
  const Summary summary = make({run, unprepared});
  EXPECT_EQ(summary.runs.at(0).status, measure::RunStatus::kOk);
  EXPECT_EQ(content("count"), "x\nx\nx\n");
  EXPECT_EQ(summary.runs.at(1).detail, "the command of --prepare ended with exit code 1: why");
}

TEST_F(CommandRuns, ThatTakeTooLongAreKilled) {
  PlannedRun run = script("sleep 600");
  run.method.timeout_s = 0.05;
  const Summary summary = make({run});
  EXPECT_EQ(summary.runs.at(0).status, measure::RunStatus::kTimeout);
  EXPECT_EQ(summary.runs.at(0).detail, "the command 'sleep 600' took longer than 0.05 s (--timeout)");
}

TEST_F(CommandRuns, EndAtASignalAndKeepTheExecutionsBeforeIt) {
  PlannedRun run =
      script("if [ -e " + path("again") + " ]; then kill -TERM $PPID; sleep 600; fi; touch " + path("again"));
  run.method.until->min_samples = 5;
  const Summary summary = make({run, script("exit 0")});
  EXPECT_EQ(summary.signal, SIGTERM);
  ASSERT_THAT(summary.runs, SizeIs(1));
  EXPECT_EQ(summary.runs[0].status, measure::RunStatus::kInterrupted);
  EXPECT_THAT(lines("SELECT count(*) FROM sample"), ElementsAre("1"));
}

TEST_F(CommandRuns, ThatIgnoreASignalAreKilled) {
  EXPECT_EQ(make({script("trap '' TERM; kill -TERM $PPID; while :; do sleep 0.01; done")}).signal, SIGTERM);
}

TEST_F(CommandRuns, LeaveNoProcessBehind) {
  make({script("sleep 600 & echo $! > " + path("background")),
        script("setsid sh -c 'echo $$ > " + path("detached") + "; exec sleep 600' > /dev/null 2>&1 & while ! [ -s " +
               path("detached") + " ]; do sleep 0.01; done")});
  for (const char* name : {"background", "detached"}) {
    const std::string pid = content(name);
    ASSERT_FALSE(pid.empty()) << name;
    EXPECT_NE(kill(std::stoi(pid), 0), 0) << name;
  }
  EXPECT_THAT(lines("SELECT status FROM run WHERE status <> 'ok'"), IsEmpty());
}

TEST_F(CommandRuns, ThatCannotBeStartedFail) {
  PlannedRun run = script("exit 0");
  run.command.words = {"no-such-program"};
  EXPECT_EQ(make({run}).runs.at(0).detail, "cannot start 'no-such-program': no such program in PATH");
}

}  // namespace
}  // namespace kymo::supervisor
