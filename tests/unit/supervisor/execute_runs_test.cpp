// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "base/clock.hpp"
#include "base/tcp.hpp"
#include "supervisor/process_reaper.hpp"
#include "supervisor/scratch.hpp"
#include "unit/supervisor/supervised.hpp"

namespace kymo::supervisor {
namespace {

using measure::Pass;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kFakeWorker = KYMO_SOURCE_DIR "/tests/unit/supervisor/fake_worker.py";

SupervisorConfig fake_setup(const std::string& start = "") {
  SupervisorConfig setup;
  setup.worker_command = [start](const SpawnRequest& request) {
    SpawnOptions options;
    for (const char* word : {"python3", "-B", kFakeWorker}) options.command.emplace_back(word);
    options.command.insert(options.command.end(),
                           {"--connect", request.address, "--rank", std::to_string(request.rank)});
    if (!start.empty()) options.command.insert(options.command.end(), {"--start", start});
    options.environment.emplace_back(kTokenVariable, request.token);
    return options;
  };
  setup.limits.report_grace_s = 0.5;
  setup.exit_grace_s = 5;
  return setup;
}

PlannedRun behaving(const std::string& behaviour, int ranks = 1, int on_rank = -1) {
  return fake_run({{"behaviour", behaviour}, {"on_rank", static_cast<std::int64_t>(on_rank)}}, ranks);
}

class ExecuteRuns : public testing::Test {
 protected:
  Summary make(const std::vector<PlannedRun>& runs, const SupervisorConfig& setup = fake_setup(),
               const Options& options = {}) {
    Summary summary = execute_runs(db_.database, db_.invocation, runs, options, setup);
    EXPECT_FALSE(std::filesystem::exists(db_.scratch_root())) << "the scratch folder was not cleared away";
    EXPECT_THAT(lines("SELECT run_id FROM run WHERE status = 'running'"), IsEmpty());
    return summary;
  }
  std::vector<std::string> lines(const std::string& sql) const { return db_.lines(sql); }
  std::string line(const std::string& sql) const {
    const auto all = lines(sql);
    return all.empty() ? "" : all.front();
  }
  TemporaryDatabase db_;
};

TEST_F(ExecuteRuns, StoresWhatEveryRankMeasured) {
  const Summary summary = make({fake_run({}, 3)});
  ASSERT_THAT(summary.runs, SizeIs(1));
  EXPECT_EQ(summary.runs[0].status, measure::RunStatus::kOk);
  EXPECT_EQ(summary.signal, 0);
  EXPECT_THAT(lines("SELECT rank, pass, status FROM rank ORDER BY rank"),
              ElementsAre("0|time|ok", "1|time|ok", "2|time|ok"));
  EXPECT_EQ(line("SELECT count(*) FROM sample"), "12");
  EXPECT_EQ(line("SELECT count(DISTINCT pid) FROM rank WHERE pid > 0"), "3");
  EXPECT_THAT(line("SELECT stdout FROM rank WHERE rank = 1"), HasSubstr("run 1 pass time"));
}

TEST_F(ExecuteRuns, RanksStartedHereUseTheGpuOfTheirOwnNumber) {
  make({behaving("tell_placement", 2)});
  EXPECT_THAT(line("SELECT stdout FROM rank WHERE rank = 0"), HasSubstr("local_rank 0, device_index 0\n"));
  EXPECT_THAT(line("SELECT stdout FROM rank WHERE rank = 1"), HasSubstr("local_rank 1, device_index 1\n"));
}

TEST_F(ExecuteRuns, TheRankOfALaunchIsToldItsLocalRankAndItsGpu) {
  LeaderOptions leader_options;
  leader_options.launcher_env.local_rank = 3;
  leader_options.launcher_env.gpu = 2;
  leader_options.launcher_env.port = free_port();
  leader_options.exit_code = [](const Summary&) { return 0; };
  Options options;
  options.leader_options = &leader_options;
  make({behaving("tell_placement")}, fake_setup(), options);
  EXPECT_THAT(line("SELECT stdout FROM rank"), HasSubstr("local_rank 3, device_index 2\n"));
}

TEST_F(ExecuteRuns, MakesEveryPassInAWorkerOfItsOwn) {
  PlannedRun run = fake_run();
  run.method.passes = {Pass::kVerify, Pass::kTime};
  make({run});
  EXPECT_THAT(lines("SELECT pass FROM rank ORDER BY pass"), ElementsAre("time", "verify"));
  EXPECT_EQ(line("SELECT count(DISTINCT pid) FROM rank"), "2");
  EXPECT_EQ(line("SELECT verification FROM run"), "passed");
}

TEST_F(ExecuteRuns, AWrongResultEndsTheRunBeforeItIsTimed) {
  PlannedRun run = behaving("wrong_result");
  run.method.passes = {Pass::kVerify, Pass::kTime};
  make({run, fake_run()});
  EXPECT_THAT(lines("SELECT status, verification, detail, failed_pass FROM run ORDER BY run_id"),
              ElementsAre("failed|failed|off by one|verify", "ok|||"));
  EXPECT_EQ(line("SELECT count(*) FROM rank WHERE run_id = 1 AND pass = 'time'"), "0");
}

TEST_F(ExecuteRuns, AnUnavailableReferenceDoesNotEndTheRun) {
  PlannedRun run = fake_run({{"behaviour", std::string("unavailable")}, {"on_pass", std::string("verify")}});
  run.method.passes = {Pass::kVerify, Pass::kTime};
  make({run});
  EXPECT_EQ(line("SELECT status, verification FROM run"), "ok|unavailable");
}

struct Fault {
  const char* behaviour;
  const char* status;
  const char* detail;
};

class EveryFault : public ExecuteRuns, public testing::WithParamInterface<Fault> {};

TEST_P(EveryFault, IsARowAndSparesTheNextRun) {
  const Fault fault = GetParam();
  PlannedRun bad = behaving(fault.behaviour);
  if (std::string(fault.behaviour) == "hang") bad.method.timeout_s = 0.5;
  if (std::string(fault.behaviour) == "memory") bad.method.host_memory_bytes = 128 << 20;
  const Summary summary = make({fake_run(), bad, fake_run()});
  ASSERT_THAT(summary.runs, SizeIs(3));
  EXPECT_STREQ(to_string(summary.runs[1].status), fault.status);
  EXPECT_THAT(summary.runs[1].detail, HasSubstr(fault.detail));
  EXPECT_THAT(lines("SELECT status FROM run ORDER BY run_id"), ElementsAre("ok", fault.status, "ok"));
  EXPECT_EQ(line("SELECT count(*) FROM sample WHERE run_id = 3"), "4");
}

INSTANTIATE_TEST_SUITE_P(
    Supervisor, EveryFault,
    testing::Values(Fault{"crash", "crashed", "signal 11"}, Fault{"killed", "crashed", "signal 9"},
                    Fault{"exit0", "crashed", "exited with code 0 before reporting an outcome"},
                    Fault{"exit7", "crashed", "exited with code 7"}, Fault{"fail", "failed", "<script>"},
                    Fault{"oom", "oom", "asked for 7 GiB"}, Fault{"skip", "skipped", "makes no sense here"},
                    Fault{"hang", "timeout", "no progress for 0.5 s: rank 0"},
                    Fault{"memory", "oom", "exceeding the limit of"}, Fault{"garbage", "failed", "invalid message"},
                    Fault{"unknown_status", "failed", "reported the unknown status 'splendid'"},
                    Fault{"huge_frame", "failed", "announced a frame"},
                    Fault{"close", "failed", "closed its connection"}, Fault{"grandchild", "crashed", "signal 9"},
                    Fault{"flood", "ok", ""}, Fault{"twice", "ok", ""}, Fault{"die_after", "ok", ""}),
    [](const auto& tested) { return std::string(tested.param.behaviour); });

TEST_F(ExecuteRuns, ACrashIsStoredWithAllThatIsKnown) {
  make({behaving("crash", 2, 1)});
  EXPECT_EQ(line("SELECT status, signal, exit_code, failed_rank, failed_pass, failed_phase, failed_step FROM run"),
            "crashed|11|NULL|1|time|step|2");
  EXPECT_THAT(lines("SELECT rank, status FROM rank ORDER BY rank"), testing::Contains("1|crashed"));
  EXPECT_EQ(line("SELECT stderr FROM rank WHERE rank = 1"), "the last words\n");
  EXPECT_THAT(line("SELECT detail FROM run"), HasSubstr("last output: 'the last words'"));
}

TEST_F(ExecuteRuns, ExceededHostMemoryIsStoredWithItsPeak) {
  PlannedRun run = behaving("memory");
  run.method.host_memory_bytes = 128 << 20;
  make({run});
  EXPECT_EQ(line("SELECT location, requested_bytes, free_bytes > 0, peak_bytes > 134217728 FROM out_of_memory"),
            "host|NULL|1|1");
}

TEST_F(ExecuteRuns, AFloodIsStoredCut) {
  make({behaving("flood")});
  EXPECT_EQ(line("SELECT length(stdout) BETWEEN 65536 AND 70000 FROM rank"), "1");
  EXPECT_THAT(line("SELECT stdout FROM rank"), HasSubstr("bytes omitted at [...]]"));
  EXPECT_THAT(line("SELECT stdout FROM rank"), HasSubstr("the end"));
  EXPECT_EQ(line("SELECT stderr FROM rank"), "a word");
}

TEST_F(ExecuteRuns, ServesBarriersAndGathers) {
  PlannedRun gather = behaving("gather", 3);
  gather.what.parameters["barriers"] = true;
  make({gather, behaving("stop", 2), behaving("lone_barrier", 1)});
  EXPECT_THAT(lines("SELECT status, detail FROM run ORDER BY run_id"), ElementsAre("ok|", "ok|", "ok|"));
}

TEST_F(ExecuteRuns, ARankThatLeavesABarrierOutFailsTheRun) {
  make({behaving("lone_barrier", 2, 1)});
  EXPECT_EQ(line("SELECT status FROM run"), "failed");
  EXPECT_THAT(line("SELECT detail FROM run"), HasSubstr("the ranks are deadlocked"));
}

TEST_F(ExecuteRuns, ReusesTimeWorkersOnlyWhereTheyFit) {
  PlannedRun other = fake_run();
  other.what.workload = "other";
  PlannedRun fresh = fake_run();
  fresh.method.fresh = true;
  make({fake_run(), fake_run(), other, fresh, fake_run()});
  const auto pids = lines("SELECT pid FROM rank ORDER BY run_id");
  ASSERT_THAT(pids, SizeIs(5));
  EXPECT_EQ(pids[0], pids[1]);
  EXPECT_EQ(std::set<std::string>(pids.begin(), pids.end()).size(), 4u);
  EXPECT_THAT(line("SELECT stdout FROM rank WHERE run_id = 2"), testing::Not(HasSubstr("run 1 ")))
      << "each run holds its own output";
}

/// A run of a workload in Python, of which each pass has a process of its own.
PlannedRun forked(const std::string& behaviour = "ok", int ranks = 1) {
  PlannedRun run = behaving(behaviour, ranks);
  run.what.plugin_interpreter = "/usr/bin/python3";
  run.method.passes = {Pass::kVerify, Pass::kTime};
  run.method.fresh = true;
  return run;
}

TEST_F(ExecuteRuns, WorkersInPythonServeEachPassOfAFreshRunInAForkOfOneProcess) {
  PlannedRun other = forked();
  other.what.workload = "other";
  make({forked(), other, forked(), other, forked()}, fake_setup("forks"));
  EXPECT_THAT(lines("SELECT status FROM run"), ElementsAre("ok", "ok", "ok", "ok", "ok"));
  EXPECT_EQ(line("SELECT count(DISTINCT pid) FROM rank"), "10");
  const std::string parents = "count(DISTINCT substr(stdout, instr(stdout, 'fork of'))) FROM rank";
  EXPECT_EQ(line("SELECT " + parents), "5");
  EXPECT_THAT(lines("SELECT " + parents + " GROUP BY run_id"), ElementsAre("1", "1", "1", "1", "1"));
  EXPECT_THAT(lines("SELECT count(*) FROM rank WHERE stdout LIKE '%run%run%'"), ElementsAre("0"))
      << "each pass holds its own output";
}

TEST_F(ExecuteRuns, OtherPassesOfSeveralRunsAreForksOfOneProcess) {
  PlannedRun run = forked();
  run.method.passes = {Pass::kVerify};
  make({run, run, run}, fake_setup("forks"));
  EXPECT_THAT(lines("SELECT status FROM run"), ElementsAre("ok", "ok", "ok"));
  EXPECT_EQ(line("SELECT count(DISTINCT pid) FROM rank"), "3");
  EXPECT_EQ(line("SELECT count(DISTINCT substr(stdout, instr(stdout, 'fork of'))) FROM rank"), "1");
}

TEST_F(ExecuteRuns, AForkThatEndsBadlyEndsItsProcessAlike) {
  make({forked("crash"), forked("exit7"), forked("killed", 2), forked("wrong_result"), forked()}, fake_setup("forks"));
  EXPECT_THAT(lines("SELECT status, coalesce(signal, ''), coalesce(exit_code, '') FROM run ORDER BY run_id"),
              ElementsAre("crashed|11|", "crashed||7", "crashed|9|", "failed||", "ok||"));
  EXPECT_THAT(line("SELECT stderr FROM rank WHERE run_id = 1"), HasSubstr("the last words"));
}

TEST_F(ExecuteRuns, WhatAForkLeavesBehindEndsBeforeTheNextOne) {
  PlannedRun leaving = forked("leave", 2), detaching = forked("detach");
  make({leaving, forked("count_group", 2), detaching}, fake_setup("forks"));
  EXPECT_THAT(lines("SELECT status FROM run ORDER BY run_id"), ElementsAre("ok", "ok", "ok"));
  EXPECT_EQ(line("SELECT count(*) FROM rank WHERE instr(stdout, '2 in the group') > 0"), "4");
  EXPECT_THAT(lines("SELECT run_id, pass, detail FROM dropped_record WHERE source = 'detached' ORDER BY pass"),
              ElementsAre("3|time|sleep", "3|verify|sleep"));
}

TEST_F(ExecuteRuns, ReusesTheWorkerOfASkippedRunUnlessOtherRanksWaitForIt) {
  make({behaving("skip"), fake_run(), behaving("skip", 2, 1), fake_run({}, 2)});
  EXPECT_THAT(lines("SELECT status FROM run ORDER BY run_id"), ElementsAre("skipped", "ok", "skipped", "ok"));
  EXPECT_EQ(line("SELECT count(DISTINCT pid) FROM rank WHERE run_id <= 2"), "1");
  EXPECT_EQ(line("SELECT count(DISTINCT pid) FROM rank WHERE run_id > 2"), "4");
}

TEST_F(ExecuteRuns, AReusedWorkerThatDiedIsReplacedWithoutATrace) {
  make({behaving("die_after"), fake_run()});
  EXPECT_THAT(lines("SELECT status FROM run ORDER BY run_id"), ElementsAre("ok", "ok"));
  EXPECT_EQ(line("SELECT count(DISTINCT pid) FROM rank"), "2");
}

TEST_F(ExecuteRuns, AWorkerThatDoesNotStartIsAClearFailure) {
  SupervisorConfig missing = fake_setup();
  missing.worker_command = [](const SpawnRequest&) { return SpawnOptions{{"/no/such/debugger", "worker"}, {}, true}; };
  make({fake_run({}, 2)}, missing);
  EXPECT_EQ(line("SELECT status FROM run"), "failed");
  EXPECT_THAT(line("SELECT detail FROM run"), HasSubstr("cannot start a worker: cannot start '/no/such/debugger'"));
  make({fake_run()}, fake_setup("silent exit"));
  EXPECT_THAT(line("SELECT detail FROM run WHERE run_id = 2"),
              HasSubstr("before connecting; last output: 'cannot load libnothing.so'"));
  make({fake_run()}, fake_setup("wrong version"));
  EXPECT_THAT(line("SELECT status, detail FROM run WHERE run_id = 3"),
              HasSubstr("failed|rank 0 uses version 99 of the worker protocol"));
}

TEST_F(ExecuteRuns, SkippedRunsStartNothing) {
  PlannedRun run = fake_run();
  run.skip_reason = "needs a GPU";
  make({run});
  EXPECT_EQ(line("SELECT status, detail, (SELECT count(*) FROM rank) FROM run"), "skipped|needs a GPU|0");
}

TEST_F(ExecuteRuns, RepetitionsAndSeedsOfASkippedRunStartNothing) {
  PlannedRun repeated = behaving("skip");
  repeated.repetition = 1;
  PlannedRun other_seed = behaving("skip");
  other_seed.method.seed = 7;
  make({behaving("skip"), repeated, other_seed, fake_run()});
  EXPECT_THAT(
      lines("SELECT status, detail FROM run ORDER BY run_id"),
      ElementsAre("skipped|makes no sense here", "skipped|makes no sense here", "skipped|makes no sense here", "ok|"));
  EXPECT_THAT(lines("SELECT run_id FROM rank ORDER BY run_id"), ElementsAre("1", "4"));
}

TEST_F(ExecuteRuns, RecordsRunsAsSkippedWhenTheTimeIsUsedUp) {
  Options options;
  options.max_time_s = 1e-6;  // used up when the first run begins
  make({fake_run(), fake_run({}, 2)}, fake_setup(), options);
  EXPECT_THAT(lines("SELECT status, detail FROM run ORDER BY run_id"),
              testing::Each("skipped|no time left: all runs together may take 1.00 µs (--max-time)"));
  EXPECT_EQ(line("SELECT count(*) FROM rank"), "0");
  options.max_time_s = 3600;
  make({fake_run(), fake_run()}, fake_setup(), options);
  EXPECT_THAT(lines("SELECT status FROM run WHERE run_id > 2"), ElementsAre("ok", "ok"));
}

TEST_F(ExecuteRuns, StopsARunWhenTheTimeIsUsedUp) {
  Options options;
  options.max_time_s = 3;
  make({behaving("hang"), fake_run({}, 2), behaving("hang")}, fake_setup(), options);
  const std::string limit = "all runs together may take 3 s (--max-time)";
  EXPECT_THAT(
      lines("SELECT status, detail FROM run ORDER BY run_id"),
      ElementsAre(
          AllOf(StartsWith("skipped|no time left: the run was stopped: rank 0, pass time, last reported stage "),
                HasSubstr(limit)),
          "skipped|no time left: " + limit, "skipped|no time left: " + limit))
      << "the reason of a run that was stopped is not that of its repetitions";
}

TEST_F(ExecuteRuns, ShowsProgress) {
  std::vector<ProgressView> views;
  Options options;
  options.on_progress = [&](const ProgressView& view) { views.push_back(view); };
  make({fake_run(), fake_run()}, fake_setup(), options);
  ASSERT_FALSE(views.empty());
  EXPECT_EQ(views.front().run_index, 0u);
  EXPECT_EQ(views.front().run_count, 2u);
  EXPECT_EQ(views.front().title, "fake");
}

TEST_F(ExecuteRuns, ACallerThatThrowsLeavesNoWorkerAndNoLie) {
  Options options;
  options.on_progress = [](const ProgressView& view) {
    if (view.stage == "step") throw std::runtime_error("no terminal");
  };
  EXPECT_THROW(execute_runs(db_.database, db_.invocation, {behaving("slow")}, options, fake_setup()),
               std::runtime_error);
  EXPECT_EQ(line("SELECT status FROM run"), "running");
  EXPECT_EQ(recover_abandoned(db_.database), 1);
  EXPECT_EQ(line("SELECT status FROM run"), "interrupted");
}

TEST_F(ExecuteRuns, TheFirstSignalLetsTheStepEndAndKeepsWhatWasMeasured) {
  Options options;
  options.on_progress = [sent = false](const ProgressView& view) mutable {
    if (view.step > 3 && !std::exchange(sent, true)) raise(SIGINT);
  };
  const Summary summary = make({behaving("slow"), fake_run()}, fake_setup(), options);
  EXPECT_EQ(summary.signal, SIGINT);
  ASSERT_THAT(summary.runs, SizeIs(1)) << "no further run";
  EXPECT_EQ(line("SELECT status FROM run"), "interrupted");
  EXPECT_EQ(line("SELECT count(*) > 0 FROM sample"), "1");
}

TEST_F(ExecuteRuns, AWorkerThatIgnoresASignalIsKilledAfterTheGracePeriod) {
  SupervisorConfig setup = fake_setup();
  setup.limits.cancel_grace_s = 0.5;
  PlannedRun run = behaving("hang");
  Options options;
  options.on_progress = [sent = false](const ProgressView& view) mutable {
    if (view.step == 2 && !std::exchange(sent, true)) raise(SIGTERM);
  };
  const Summary summary = make({run}, setup, options);
  EXPECT_EQ(summary.signal, SIGTERM);
  EXPECT_EQ(line("SELECT status FROM run"), "interrupted");
  EXPECT_THAT(line("SELECT detail FROM run"), HasSubstr("interrupted by SIGTERM; still running after 0.5 s"));
}

TEST_F(ExecuteRuns, TheSecondSignalEndsAtOnce) {
  SupervisorConfig setup = fake_setup();
  setup.limits.cancel_grace_s = 3600;
  Options options;
  options.on_progress = [sent = false](const ProgressView& view) mutable {
    if (view.step != 2 || std::exchange(sent, true)) return;
    raise(SIGINT);
    std::thread([target = pthread_self()] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      pthread_kill(target, SIGINT);
    }).detach();
  };
  const Summary summary = make({behaving("hang"), fake_run()}, setup, options);
  EXPECT_EQ(summary.signal, SIGINT);
  ASSERT_THAT(summary.runs, SizeIs(1));
  EXPECT_EQ(summary.runs[0].status, measure::RunStatus::kInterrupted);
  EXPECT_THAT(summary.runs[0].detail, HasSubstr("terminated immediately"));
}

TEST_F(ExecuteRuns, AHangUpEndsTheRunAsATerminationDoes) {
  Options options;
  options.on_progress = [sent = 0](const ProgressView& view) mutable {
    if (view.step <= 3 || sent == 2) return;
    if (sent++ == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));  // as on a busy machine
    raise(SIGHUP);
  };
  const Summary summary = make({behaving("slow"), fake_run()}, fake_setup(), options);
  EXPECT_EQ(summary.signal, SIGHUP);
  EXPECT_EQ(line("SELECT status, (SELECT count(*) > 0 FROM sample) FROM run"), "interrupted|1")
      << "the second one is of the same closed terminal";
}

TEST_F(ExecuteRuns, AnIgnoredHangUpStaysIgnored) {
  signal(SIGHUP, SIG_IGN);
  const Summary summary = make({fake_run({{"behaviour", std::string("work_a_second")}})}, fake_setup(), [] {
    Options options;
    options.on_progress = [](const ProgressView&) { raise(SIGHUP); };
    return options;
  }());
  signal(SIGHUP, SIG_DFL);
  EXPECT_EQ(summary.signal, 0);
  EXPECT_EQ(line("SELECT status FROM run"), "ok");
}

TEST_F(ExecuteRuns, ASuspensionStopsTheWorkersAndTheDeadlines) {
  const std::int64_t begin_ns = now_ns();
  make({behaving("work_a_second")});
  const double timeout_s = 3e-9 * static_cast<double>(now_ns() - begin_ns);
  const pid_t continues = fork();
  if (continues == 0) {
    usleep(static_cast<useconds_t>(1e6 * (timeout_s + 0.5)));
    // The suspension may be late on a busy machine.
    for (double waited_s = 0; waited_s < kHang_s && kill(getppid(), SIGCONT) == 0; waited_s += 0.05) usleep(50'000);
    _exit(0);
  }
  PlannedRun run = behaving("work_a_second");
  run.method.timeout_s = timeout_s;
  Options options;
  options.on_progress = [sent = false](const ProgressView& view) mutable {
    if (view.step == 2 && !std::exchange(sent, true)) raise(SIGTSTP);
  };
  const Summary summary = make({run}, fake_setup(), options);
  EXPECT_EQ(summary.signal, 0);
  EXPECT_EQ(line("SELECT status, detail FROM run WHERE run_id = 2"), "ok|");
  EXPECT_THAT(line("SELECT stdout FROM rank WHERE run_id = 2"), HasSubstr("was stopped"));
  kill(continues, SIGKILL);
  waitpid(continues, nullptr, 0);
}

int received = 0;

TEST_F(ExecuteRuns, GivesSignalHandlersBack) {
  struct sigaction mine{};
  struct sigaction before{};
  mine.sa_handler = [](int) { ++received; };
  sigaction(SIGINT, &mine, &before);
  make({fake_run()});
  raise(SIGINT);
  EXPECT_EQ(received, 1);
  sigaction(SIGINT, &before, nullptr);
}

TEST_F(ExecuteRuns, EndsAndRecordsDetachedProcesses) {
  PlannedRun every_pass = behaving("detach", 2);
  every_pass.method.passes = {Pass::kVerify, Pass::kTime};
  make({behaving("detach"), every_pass, behaving("detach", 2, 1), fake_run()});
  EXPECT_THAT(lines("SELECT status FROM run ORDER BY run_id"), ElementsAre("ok", "ok", "ok", "ok"));
  EXPECT_THAT(
      lines("SELECT run_id, rank, pass, count, detail FROM dropped_record WHERE source = 'detached' "
            "ORDER BY run_id, pass"),
      ElementsAre("1|-1|time|1|sleep", "2|-1|time|2|sleep, sleep", "2|-1|verify|2|sleep, sleep", "3|-1|time|1|sleep"));
}

TEST_F(ExecuteRuns, LeavesNoProcessBehind) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  make({behaving("grandchild"), behaving("crash", 3, 1), behaving("detach"), fake_run({}, 2)});
  const std::string children = "/proc/self/task/" + std::to_string(gettid()) + "/children";
  std::set<std::string> alive;
  std::ifstream in(children);
  for (std::string pid; in >> pid;) {
    std::ifstream stat("/proc/" + pid + "/stat");
    std::string text;
    std::getline(stat, text);
    if (text.find(") Z") == std::string::npos) alive.insert(text);
  }
  EXPECT_THAT(alive, IsEmpty());
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace kymo::supervisor
