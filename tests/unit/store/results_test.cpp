// SPDX-License-Identifier: Apache-2.0
#include "store/results.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "base/error.hpp"
#include "measure/statistics.hpp"
#include "report/run_selection.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using ::testing::HasSubstr;
using Mode = ResultsDatabase::Mode;

class Results : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    database_ = std::make_unique<ResultsDatabase>(path("a.db"), Mode::kCreate);
    runs_.emplace(*database_);
    invocation_ = database_->begin_invocation("kymo run 'x'", {{"host", "node1"}, {"host", "node2"}});
  }
  void TearDown() override {
    runs_.reset();
    database_.reset();
    StoreTest::TearDown();
  }
  std::filesystem::path write(std::int64_t run_id, int rank, measure::Pass pass, const event::PassRecord& record) {
    const auto file = rank_file_name(folder(), run_id, rank, pass);
    write_rank_file(file, run_id, rank, pass, record);
    return file;
  }
  std::unique_ptr<ResultsDatabase> database_;
  std::optional<report::RunSelection> runs_;
  std::int64_t invocation_ = 0;
};

TEST_F(Results, RunIsCommittedAsRunningWithItsParameters) {
  RunRow row = make_run(invocation_);
  row.label = "before";
  row.method.until = measure::StoppingRule{.relative_standard_error = 0.01};
  row.method.seed = std::numeric_limits<std::uint64_t>::max();
  const std::int64_t run_id = database_->begin_run(row);
  const ResultsDatabase reader(path("a.db"), Mode::kReadOnly);
  EXPECT_EQ(
      ask(reader, "SELECT run_id, status, label, steps, until_relative_error, warmup, passes, seed, ended_at FROM run"),
      std::to_string(run_id) + "|running|before|0|0.01|2|verify,time|-1|NULL");
  EXPECT_EQ(ask(reader, "SELECT run_id, name, sha256 FROM run_library"), "1|librest.so|7b7b");
  EXPECT_EQ(ask(reader, "SELECT name, type, typeof(value), value FROM param ORDER BY name"),
            "causal|bool|integer|1;dtype|text|text|fp32;n|int|integer|8;scale|real|real|0.5");
  EXPECT_EQ(ask(reader, "SELECT name, value FROM environment_fact"), "host|node2");
  ASSERT_EQ(reader.running_runs().size(), 1u);
  EXPECT_EQ(reader.running_runs()[0].invocation_id, invocation_);
}

TEST_F(Results, TitlesComeFromTheDescription) {
  RunRow row = make_run(invocation_);
  row.title.workload = "Saxpy";
  row.title.family = "vectors";
  row.title.family_order = 1;
  row.title.parameters = {{"dtype", {.position = 0, .title = "{}", .is_setting = true, .choice = 1}},
                          {"scale", {.position = 1, .title = "times {}", .is_setting = false, .choice = {}}},
                          {"n", {.position = 2, .title = " to {} rows", .is_setting = false, .choice = {}}}};
  database_->begin_run(row);
  EXPECT_EQ(ask(*database_, "SELECT family, family_order, title, variant, setting FROM run_series"),
            "vectors|1|Saxpy, times 0.5 to 8 rows|times 0.5 to 8 rows|fp32, 1 rank");
  EXPECT_EQ(ask(*database_, "SELECT name, choice FROM run_parameter WHERE choice IS NOT NULL"), "dtype|1");
}

TEST_F(Results, EverythingAWorkerObservedComesBack) {
  const std::int64_t run_id = database_->begin_run(make_run(invocation_));
  event::PassRecord record = make_record();
  event::Metric text;
  text.level = event::MetricLevel::kPhase;
  text.step = 3;
  text.phase = "compute";
  text.name = "dtype";
  text.text = "fp16";
  event::Metric diverged;
  diverged.name = "loss";
  diverged.number = std::numeric_limits<double>::quiet_NaN();
  record.metrics.insert(record.metrics.end(), {text, diverged});
  record.gpu_samples.push_back({3, 99, 1980, 2619, 350'000, 61, 4});
  record.dropped_records.push_back({"cuda", -1, "no driver"});
  record.out_of_memory = event::OutOfMemory{"device", 5, 3, std::nullopt};
  const auto time = write(run_id, 0, measure::Pass::kTime, record);
  event::PassRecord verified = make_record(0);
  verified.checks.push_back({"y", event::CheckOutcome::kPassed, 1e-6, std::nullopt, 1e-5, "float64", ""});
  verified.checks.push_back(
      {"y", event::CheckOutcome::kUnavailable, std::nullopt, std::nullopt, std::nullopt, "float64", "too large"});
  verified.work = {{"compute", 7, 7}};
  const auto verify = write(run_id, 0, measure::Pass::kVerify, verified);
  const Outcome outcome{.verification = event::CheckOutcome::kPassed};
  WorkerRow worker;
  worker.pid = 12;
  worker.host = "node1";
  worker.stdout_text = "out";
  worker.stderr_text = "err";
  database_->finalize_run(run_id, outcome, {worker}, {verify, time});

  EXPECT_EQ(
      ask(*database_, "SELECT count(*), sum(host_ns), sum(device_ns), min(start_ns) FROM sample WHERE pass = 'time'"),
      "24|18990|6318|0");
  EXPECT_EQ(ask(*database_, "SELECT sequence, level, step, phase, name, value, unit FROM metric WHERE pass = 'time'"),
            "0|run|-1||loss|2.5|;1|phase|3|compute|dtype|fp16|;2|run|-1||loss|nan|");
  EXPECT_EQ(ask(*database_, "SELECT flops, bytes FROM work"), "2e+09|1000000") << "the time pass's word counts";
  EXPECT_EQ(ask(*database_, "SELECT name, outcome, max_abs_error, tolerance, detail FROM verification"),
            "y|passed|1e-06|1e-05|;y #2|unavailable|NULL|NULL|too large");
  EXPECT_EQ(ask(*database_, "SELECT step, time_ns, sm_clock_mhz, power_mw, throttle_reasons FROM gpu_sample"),
            "3|99|1980|350000|4");
  EXPECT_EQ(ask(*database_, "SELECT name, time_ns, step FROM mark WHERE pass = 'time'"), "ready|17|-1");
  EXPECT_EQ(ask(*database_, "SELECT location, requested_bytes, free_bytes, peak_bytes FROM out_of_memory"),
            "device|5|3|NULL");
  EXPECT_EQ(ask(*database_, "SELECT source, count, detail FROM dropped_record"), "cuda|-1|no driver");
  EXPECT_EQ(
      ask(*database_, "SELECT pass, pid, host, status, stdout, stderr, resident_peak_bytes FROM rank ORDER BY pass"),
      "time|12|node1|ok|out|err|1048576;verify|0||||" + std::string("|1048576"));
  EXPECT_EQ(ask(*database_, "SELECT count(*), max(uuid) FROM device"), "1|cpu-1234");
  const std::string key = ask(*database_, "SELECT plan_key FROM run");
  EXPECT_EQ(database_->finished_runs(key, "cpu-1234"), 1);
  EXPECT_EQ(database_->finished_runs(key, "cpu-5678"), 0) << "another device";
  EXPECT_EQ(ask(*database_, "SELECT status, verification, ended_at IS NOT NULL FROM run"), "ok|passed|1");
}

TEST_F(Results, StatisticsLeaveOutWarmUpAndTakeTheSlowestRank) {
  const std::int64_t run_id = database_->begin_run(make_run(invocation_, 8, 2));
  event::PassRecord slow = make_record();
  for (auto& sample : slow.samples) sample.host_ns += sample.step % 2 == 0 ? 100 : -100;
  const auto first = write(run_id, 0, measure::Pass::kTime, make_record());
  const auto second = write(run_id, 1, measure::Pass::kTime, slow);
  database_->finalize_run(run_id, Outcome{}, {}, {first, second});
  std::vector<double> expected;
  for (int step = 2; step < 12; ++step) expected.push_back(1000 + 10 * step + (step % 2 == 0 ? 100 : 0));
  const measure::Statistics s = measure::summarize(expected);
  const auto row = database_
                       ->query(
                           "SELECT count, mean_ns, std_ns, median_ns, min_ns, max_ns, ci_low_ns, ci_high_ns, p95_ns, "
                           "median_low_ns, median_high_ns, median_confidence FROM statistic "
                           "WHERE phase = 'step' AND clock = 'host'")
                       .rows.at(0);
  EXPECT_EQ(row[0].integer, 10);
  EXPECT_DOUBLE_EQ(row[1].real, s.mean);
  EXPECT_DOUBLE_EQ(row[2].real, *s.std);
  EXPECT_DOUBLE_EQ(row[3].real, s.median);
  EXPECT_DOUBLE_EQ(row[4].real, 1030);
  EXPECT_DOUBLE_EQ(row[5].real, 1200);
  EXPECT_DOUBLE_EQ(row[6].real, *s.ci_low);
  EXPECT_DOUBLE_EQ(row[7].real, *s.ci_high);
  EXPECT_EQ(row[8].type, ResultsDatabase::Cell::Type::kNull);
  EXPECT_DOUBLE_EQ(row[9].real, *s.median_low);
  EXPECT_DOUBLE_EQ(row[10].real, *s.median_high);
  EXPECT_DOUBLE_EQ(row[11].real, *s.median_confidence);
  EXPECT_EQ(ask(*database_, "SELECT phase, clock FROM statistic ORDER BY phase, clock"),
            "compute|device;compute|host;step|host");
}

/// Every tenth step takes 40 times as long.
TEST_F(Results, TheStatisticThatRepresentsARunIsStored) {
  const auto represented_by = [&](measure::Timing timing, std::int64_t longest_wait_ns) {
    event::PassRecord record = make_record(62);
    for (auto& sample : record.samples)
      if (sample.step % 10 == 5) sample.host_ns *= 40;
    record.scheduling.push_back({61, 60, 0, 1000, 900, 0, 3, longest_wait_ns, longest_wait_ns, {}, {}});
    RunRow run = make_run(invocation_);
    run.method.timing = timing;
    const std::int64_t run_id = database_->begin_run(run);
    database_->finalize_run(run_id, Outcome{}, {}, {write(run_id, 0, measure::Pass::kTime, record)});
    return ask(*database_,
               "SELECT phase, clock, represented_by, slow_count, fast_count FROM statistic WHERE run_id = " +
                   std::to_string(run_id) + " ORDER BY phase, clock");
  };
  const std::string by_mean = "compute|device|mean|0|0;compute|host|mean|6|0;step|host|mean|6|0";
  const std::string by_median = "compute|device|median|0|0;compute|host|median|6|0;step|host|median|6|0";
  EXPECT_EQ(represented_by(measure::Timing::kSync, 0), by_mean) << "the phases as the step";
  EXPECT_EQ(represented_by(measure::Timing::kSync, 101), by_median) << "the thread waited for other processes";
  EXPECT_EQ(represented_by(measure::Timing::kHot, 0), by_median);
  EXPECT_EQ(represented_by(measure::Timing::kFree, 101), by_mean);
  EXPECT_EQ(ask(*database_,
                "SELECT slow_ns = (SELECT sum(host_ns) FROM step_duration d WHERE d.run_id = s.run_id AND "
                "d.phase = 'step' AND d.step % 10 = 5 AND d.warmup = 0) FROM statistic s WHERE s.run_id = 1 "
                "AND s.phase = 'step'"),
            "1");
}

TEST_F(Results, StepsThatSomeRankDidNotFinishDoNotCount) {
  const std::int64_t run_id = database_->begin_run(make_run(invocation_, 8, 2));
  const auto first = write(run_id, 0, measure::Pass::kTime, make_record(12));
  const auto second = write(run_id, 1, measure::Pass::kTime, make_record(5));
  database_->finalize_run(run_id, Outcome{RunStatus::kFailed}, {}, {first, second});
  EXPECT_EQ(ask(*database_, "SELECT count, min_ns, max_ns FROM statistic WHERE phase = 'step'"), "3|1020|1040");
}

TEST_F(Results, ThrottledStepsAreLeftOutUnlessAllAre) {
  event::PassRecord record = make_record(6);
  for (auto& sample : record.samples) sample.throttled = sample.step == 4;
  std::int64_t run_id = database_->begin_run(make_run(invocation_));
  database_->finalize_run(run_id, Outcome{}, {}, {write(run_id, 0, measure::Pass::kTime, record)});
  EXPECT_EQ(ask(*database_, "SELECT count, excluded, all_throttled, max_ns FROM statistic WHERE phase = 'step'"),
            "3|1|0|1050");
  for (auto& sample : record.samples) sample.throttled = true;
  run_id = database_->begin_run(make_run(invocation_));
  database_->finalize_run(run_id, Outcome{}, {}, {write(run_id, 0, measure::Pass::kTime, record)});
  EXPECT_EQ(ask(*database_, "SELECT count, excluded, all_throttled FROM statistic WHERE phase = 'step' AND run_id = " +
                                std::to_string(run_id)),
            "4|0|1");
}

TEST_F(Results, MissingDamagedAndForeignRankFilesAreDroppedRecords) {
  const std::int64_t run_id = database_->begin_run(make_run(invocation_, 8, 4));
  const auto good = write(run_id, 0, measure::Pass::kTime, make_record());
  const auto missing = rank_file_name(folder(), run_id, 1, measure::Pass::kTime);
  const auto damaged = write(run_id, 2, measure::Pass::kTime, make_record());
  std::string bytes = content_of(damaged);
  for (std::size_t i = 4096; i < bytes.size(); i += 7) bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
  put_content(damaged, bytes);
  const auto foreign = rank_file_name(folder(), run_id, 3, measure::Pass::kTime);
  write_rank_file(foreign, run_id + 1, 3, measure::Pass::kTime, make_record());
  const auto renamed = path("RUN-x-0-time.kymo");
  database_->finalize_run(run_id, Outcome{}, {}, {good, missing, damaged, foreign, renamed});
  EXPECT_EQ(ask(*database_, "SELECT rank, pass, source, count FROM dropped_record ORDER BY rank"),
            "-1||store|-1;1|time|store|-1;2|time|store|-1;3|time|store|-1");
  EXPECT_THAT(ask(*database_, "SELECT detail FROM dropped_record WHERE rank = 1"), HasSubstr("ended before it wrote"));
  EXPECT_THAT(ask(*database_, "SELECT detail FROM dropped_record WHERE rank = 3"), HasSubstr("another run"));
  EXPECT_EQ(ask(*database_, "SELECT DISTINCT rank FROM sample"), "0");
  EXPECT_EQ(ask(*database_, "SELECT status FROM run"), "ok");
}

TEST_F(Results, FinishingAgainReplacesWhatWasThere) {
  const std::int64_t run_id = database_->begin_run(make_run(invocation_));
  const auto file = write(run_id, 0, measure::Pass::kTime, make_record());
  database_->finalize_run(run_id, Outcome{RunStatus::kInterrupted, "x"}, {}, {file});
  database_->finalize_run(run_id, Outcome{}, {}, {file});
  EXPECT_EQ(ask(*database_, "SELECT status, detail FROM run"), "ok|");
  EXPECT_EQ(ask(*database_, "SELECT count(*) FROM sample"), "24");
  EXPECT_EQ(ask(*database_, "SELECT count(*) FROM param"), "4");
  EXPECT_EQ(ask(*database_, "SELECT name FROM run_library"), "librest.so");
}

TEST_F(Results, OutOfMemorySeenByTheSupervisorIsStored) {
  const std::int64_t run_id = database_->begin_run(make_run(invocation_));
  const Outcome outcome{.status = RunStatus::kOom,
                        .detail = "host memory bound",
                        .rank = 1,
                        .pass = measure::Pass::kTime,
                        .phase = "prepare",
                        .signal = 9,
                        .out_of_memory = event::OutOfMemory{"host", std::nullopt, std::nullopt, 77}};
  database_->finalize_run(run_id, outcome, {}, {});
  EXPECT_EQ(ask(*database_, "SELECT rank, pass, location, requested_bytes, peak_bytes, failed_phase FROM oom"),
            "1|time|host|NULL|77|prepare");
  EXPECT_EQ(ask(*database_, "SELECT signal, exit_code, failed_rank FROM failures"), "9|NULL|1");
  EXPECT_EQ(ask(*database_, "SELECT failed_step FROM run"), "NULL");
  EXPECT_EQ(database_->finished_runs(measure::equivalence_key(make_run(1), measure::Equivalence::kPlan)), 1);
}

TEST_F(Results, FinishedRunsCountOkAndOomOnly) {
  const RunRow row = make_run(invocation_);
  const std::string key = measure::equivalence_key(row, measure::Equivalence::kPlan);
  for (const auto& each : measure::kRunStatusNames.entries)
    database_->finalize_run(database_->begin_run(row), Outcome{each.value}, {}, {});
  EXPECT_EQ(ask(*database_, "SELECT status FROM run ORDER BY run_id"),
            "ok;oom;failed;crashed;timeout;interrupted;skipped");
  database_->begin_run(row);
  EXPECT_EQ(database_->finished_runs(key), 2);
  EXPECT_EQ(database_->finished_runs("no such key"), 0);
}

TEST_F(Results, HostileTextIsStoredAsTextAndAsUtf8) {
  const std::string hostile = "'; DROP TABLE run; -- <script>\n\\input{x} =cmd \"";
  RunRow row = make_run(invocation_);
  row.label = hostile;
  row.what.parameters = {{hostile, hostile}};
  const std::int64_t run_id = database_->begin_run(row);
  event::PassRecord record = make_record();
  for (auto& sample : record.samples) sample.phase = sample.phase == "compute" ? hostile : sample.phase;
  WorkerRow worker;
  worker.stdout_text = std::string("a\0b\xff\xc3\x28 \xe2\x82\xac", 10);
  database_->finalize_run(run_id, Outcome{}, {worker}, {write(run_id, 0, measure::Pass::kTime, record)});
  EXPECT_EQ(ask(*database_, "SELECT label FROM run"), hostile);
  EXPECT_EQ(ask(*database_, "SELECT name FROM param"), hostile);
  EXPECT_EQ(ask(*database_, "SELECT phase FROM phase_time ORDER BY phase <> 'step' DESC LIMIT 1"), hostile);
  EXPECT_EQ(ask(*database_, "SELECT stdout FROM rank"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\xEF\xBF\xBD( \xe2\x82\xac");
}

TEST_F(Results, InvalidCallsAreErrors) {
  const std::int64_t run_id = database_->begin_run(make_run(invocation_));
  EXPECT_THAT(error_of([&] { database_->finalize_run(run_id, Outcome{static_cast<RunStatus>(99)}, {}, {}); }),
              HasSubstr("invalid run status"));
  EXPECT_THAT(error_of([&] { database_->finalize_run(999, Outcome{}, {}, {}); }), HasSubstr("contains no run 999"));
  EXPECT_THAT(error_of([&] { database_->begin_run(make_run(77)); }), HasSubstr("contains no invocation 77"));
  EXPECT_THAT(error_of([&] { database_->end_invocation(77, 0); }), HasSubstr("contains no invocation 77"));
  EXPECT_EQ(ask(*database_, "SELECT status FROM run"), "running");
  ResultsDatabase reader(path("a.db"), Mode::kReadOnly);
  EXPECT_THAT(error_of([&] { reader.begin_invocation("x", {}); }), HasSubstr("opened read-only"));
}

TEST_F(Results, ANewBuildTakesThePlaceOfAnOldOne) {
  const auto selected = [&](const report::Selection& selection) {
    runs_->select(selection);
    return ask(*database_, "SELECT group_concat(run_id, ',') FROM (SELECT run_id FROM selected_run ORDER BY run_id)");
  };
  database_->begin_run(make_run(invocation_, 1));  // 1
  database_->begin_run(make_run(invocation_, 2));  // 2
  const std::int64_t later = database_->begin_invocation("kymo run again", {});
  RunRow row = make_run(later, 1);
  row.what.plugin_sha256 = "another";
  database_->begin_run(row);  // 3
  row.method.steps += 1;
  database_->begin_run(row);  // 4
  EXPECT_EQ(selected({}), "2,3,4");
  EXPECT_EQ(ask(*database_, "SELECT group_concat(run_id, ',') FROM (SELECT run_id FROM current_run ORDER BY run_id)"),
            "2,3,4");
  report::Selection old;
  old.invocation_id = invocation_;
  EXPECT_EQ(selected(old), "1,2");
}

TEST_F(Results, TitlesOmitCasesThatOtherSettingsDistinguish) {
  const auto titles = [&] {
    runs_->select({});
    return ask(*database_, "SELECT group_concat(title, '; ') FROM (SELECT title FROM selected_run ORDER BY run_id)");
  };
  RunRow row = make_run(invocation_, 1);
  row.suite = "s";
  row.suite_case = "short";
  database_->begin_run(row);
  RunRow other = make_run(invocation_, 2);
  other.suite = "s";
  other.suite_case = "long";
  database_->begin_run(other);
  const std::string distinguished = titles();
  EXPECT_THAT(distinguished, Not(HasSubstr("case=")));
  RunRow same = row;
  same.suite_case = "long";
  database_->begin_run(same);
  EXPECT_THAT(titles(), AllOf(HasSubstr("case=short"), HasSubstr("case=long"))) << distinguished;
}

TEST_F(Results, SelectsTheNewestInvocationOfEachPlan) {
  const auto select = [&](report::Selection selection) {
    const std::int64_t count = runs_->select(selection);
    EXPECT_EQ(ask(*database_, "SELECT count(*) FROM selected_run"), std::to_string(count));
    return ask(*database_, "SELECT group_concat(run_id, ',') FROM (SELECT run_id FROM selected_run ORDER BY run_id)");
  };
  EXPECT_EQ(select({}), "NULL");
  RunRow row = make_run(invocation_, 1);
  row.label = "before";
  row.suite = "quick";
  database_->begin_run(row);                       // 1
  database_->begin_run(make_run(invocation_, 2));  // 2
  const std::int64_t later = database_->begin_invocation("kymo run again", {});
  database_->begin_run(make_run(later, 1));  // 3
  database_->begin_run(make_run(later, 1));  // 4
  EXPECT_EQ(select({}), "2,3,4");
  EXPECT_EQ(ask(*database_, "SELECT group_concat(run_id, ',') FROM (SELECT run_id FROM current_run ORDER BY run_id)"),
            "2,3,4");
  report::Selection narrowed;
  narrowed.label = "before";
  EXPECT_EQ(select(narrowed), "1");
  narrowed = {};
  narrowed.invocation_id = invocation_;
  EXPECT_EQ(select(narrowed), "1,2");
  narrowed = {};
  narrowed.suite = "quick";
  EXPECT_EQ(select(narrowed), "1");
  narrowed.label = "after";
  EXPECT_EQ(select(narrowed), "NULL");
}

TEST_F(Results, HidesTheHistoryOfTheSelectedRuns) {
  const auto finish = [&](std::int64_t run_id, RunStatus status) {
    Outcome outcome;
    outcome.status = status;
    database_->finalize_run(run_id, outcome, {}, {});
  };
  for (int i = 0; i < 4; ++i) {
    const std::int64_t invocation = database_->begin_invocation("kymo run", {});
    for (const int n : {1, 2, 3})
      finish(database_->begin_run(make_run(invocation, n)),
             i == 3 && n == 2 ? RunStatus::kFailed : RunStatus::kOk);  // 1 to 12
  }
  const std::int64_t only = database_->begin_invocation("kymo run", {});
  finish(database_->begin_run(make_run(only, 1)), RunStatus::kOk);  // 13
  runs_->select({});
  const std::string ids = "SELECT group_concat(run_id, ',') FROM (SELECT run_id FROM ";
  const std::string selected = "11,12,13";
  ASSERT_EQ(ask(*database_, ids + "selected_run ORDER BY run_id)"), selected);
  runs_->hide_history();
  // 8 is the newest successful run of a plan whose newest run failed, and 10 is of an invocation of selected runs.
  const std::string visible = "8,10,11,12,13";
  EXPECT_EQ(ask(*database_, ids + "run ORDER BY run_id)"), visible);
  EXPECT_EQ(ask(*database_, ids + "run_list ORDER BY run_id)"), visible);
  EXPECT_EQ(ask(*database_, ids + "param WHERE name = 'n' ORDER BY run_id)"), visible);
  EXPECT_EQ(ask(*database_, ids + "current_run ORDER BY run_id)"), selected);
  EXPECT_THAT(error_of([&] { database_->query("DELETE FROM run"); }), HasSubstr("only SELECT"));
  runs_->select({});
  EXPECT_EQ(ask(*database_, "SELECT count(*) FROM run_list"), "13");
}

TEST_F(Results, LimitsTheSelectionToTheNewestOfEachCase) {
  for (int i = 0; i < 3; ++i) {
    const std::int64_t invocation = database_->begin_invocation("kymo run", {});
    for (const int n : {1, 2, 3, 4}) {
      auto run = make_run(invocation, 10 * i + n);  // all plans differ
      run.suite_case = n == 4 ? "rare" : "common";
      database_->begin_run(run);
    }
  }
  const std::string ids = "SELECT group_concat(run_id, ',') FROM (SELECT run_id FROM ";
  EXPECT_EQ(runs_->select({{}, {}, {}, false, 12}), 12);
  EXPECT_EQ(ask(*database_, "SELECT count(*) FROM selected_run"), "12");
  EXPECT_EQ(runs_->select({{}, {}, {}, false, 4}), 12) << "could be selected";
  EXPECT_EQ(ask(*database_, ids + "selected_run ORDER BY run_id)"), "8,10,11,12");
  runs_->hide_history();
  EXPECT_EQ(ask(*database_, "SELECT count(*) FROM run"), "12") << "newest of other plans";
  runs_->hide_history(true);
  EXPECT_EQ(ask(*database_, ids + "run ORDER BY run_id)"), "8,10,11,12");
}

TEST_F(Results, EvaluatesViewsThatSeveralQueriesNameOnce) {
  database_->begin_run(make_run(invocation_, 1));
  runs_->select({});
  const std::string rows = "SELECT count(*) FROM temp.sqlite_master WHERE type = 'table' AND name LIKE 'rows of %'";
  const std::string parameters = "SELECT group_concat(name || '=' || value) FROM run_parameter";
  const std::string before = ask(*database_, parameters);
  runs_->evaluate_once({parameters, "SELECT * FROM run_machine", "SELECT 1 FROM RUN_PARAMETER"});
  EXPECT_EQ(ask(*database_, rows), "1");
  EXPECT_EQ(ask(*database_, parameters), before);
  EXPECT_EQ(ask(*database_, "SELECT count(*) FROM run_machine"), "1");
  runs_->select({});
  EXPECT_EQ(ask(*database_, rows), "0");
  EXPECT_EQ(ask(*database_, parameters), before);
}

TEST_F(Results, HidesNothingWhereItWouldHideLittle) {
  database_->begin_run(make_run(invocation_, 1));
  const std::int64_t later = database_->begin_invocation("kymo run again", {});
  database_->begin_run(make_run(later, 1));
  runs_->select({});
  runs_->hide_history();
  EXPECT_EQ(ask(*database_, "SELECT count(*) FROM run"), "2");
}

}  // namespace
}  // namespace kymo::store::testing
