// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "store/results.hpp"
#include "unit/store/event_record.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Mode = ResultsDatabase::Mode;
using Pass = measure::Pass;

class RetentionTest : public StoreTest {
 protected:
  /// A run with a time pass and an instrumented pass.
  std::int64_t store(ResultsDatabase& database, Keep keep, const event::PassRecord& observed = make_event_record()) {
    const std::int64_t run_id = database.begin_run(make_run(database.begin_invocation("kymo run", {})));
    const auto time = rank_file_name(folder(), run_id, 0, Pass::kTime);
    const auto trace = rank_file_name(folder(), run_id, 0, Pass::kTrace);
    write_rank_file(time, run_id, 0, Pass::kTime, make_record());
    write_rank_file(trace, run_id, 0, Pass::kTrace, observed);
    database.finalize_run(run_id, Outcome{}, {}, {time, trace}, keep);
    return run_id;
  }
  static std::string counts(const ResultsDatabase& database, const std::vector<std::string>& tables) {
    std::string text;
    for (const std::string& table : tables) text += table + " " + ask(database, "SELECT count(*) FROM " + table) + "; ";
    return text;
  }
  const std::vector<std::string> derived_{"statistic",
                                          "overhead",
                                          "kernel_total",
                                          "op_total",
                                          "step_activity",
                                          "idle_total",
                                          "kernel_outlier",
                                          "memory_phase",
                                          "clock_sync",
                                          "kernel_class",
                                          "scope_path",
                                          "metric",
                                          "mark",
                                          "work",
                                          "rank",
                                          "launch_config",
                                          "memory_phase_category",
                                          "saved_tensor"};
  const std::vector<std::string> events_{"range",           "kernel",         "memcpy", "memset",      "api_call",
                                         "synchronization", "cupti_overhead", "op",     "allocation",  "segment",
                                         "memory_point",    "device_memory",  "stack",  "stack_frame", "collective"};
  const std::vector<std::string> sampled_{"sample", "gpu_sample", "gpu_utilization", "memory_counter", "step_duration"};
};

TEST(KeepWord, IsReadAndWritten) {
  for (const Keep keep : {Keep::kSummary, Keep::kOneStep, Keep::kAll})
    EXPECT_EQ(enum_from<Keep>(to_string(keep)), keep);
  EXPECT_THAT(error_of([] { enum_from<Keep>("one step"); }),
              AllOf(HasSubstr("'one step'"), HasSubstr("summary, one-step, all")));
  EXPECT_THROW(enum_from<Keep>(""), UsageError);
}

TEST_F(RetentionTest, SummaryLeavesWhatReportsNeed) {
  ResultsDatabase all(path("all.db"), Mode::kCreate);
  store(all, Keep::kAll);
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  store(database, Keep::kSummary);
  EXPECT_EQ(counts(database, derived_), counts(all, derived_));
  EXPECT_EQ(ask(database, "SELECT * FROM statistic ORDER BY phase, clock"),
            ask(all, "SELECT * FROM statistic ORDER BY phase, clock"));
  for (const auto& tables : {events_, sampled_}) {
    for (const std::string& table : tables) EXPECT_EQ(ask(database, "SELECT count(*) FROM " + table), "0") << table;
  }
  EXPECT_EQ(ask(database, "SELECT keep, (SELECT count(*) FROM dropped_record) FROM run"), "summary|0");
  EXPECT_EQ(ask(database, "SELECT text FROM kernel_total JOIN string ON string_id = name_id WHERE kind = 'kernel'"),
            kHostileName);
}

TEST_F(RetentionTest, OneStepLeavesTheMiddleOne) {
  ResultsDatabase all(path("all.db"), Mode::kCreate);
  store(all, Keep::kAll);
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  store(database, Keep::kOneStep);
  EXPECT_EQ(counts(database, derived_), counts(all, derived_));
  EXPECT_EQ(counts(database, sampled_), counts(all, sampled_));
  EXPECT_EQ(counts(database, events_),
            "range 2; kernel 1; memcpy 1; memset 0; api_call 1; synchronization 1; cupti_overhead 1; op "
            "1; allocation 1; "
            "segment 1; memory_point 1; device_memory 2; stack 2; stack_frame 2; collective 1; ");
  EXPECT_EQ(ask(database, "SELECT step, launch_config FROM kernel"), "2|0");
  EXPECT_EQ(
      ask(database, "SELECT name_id = (SELECT string_id FROM string WHERE text = 'cudaLaunchKernel') FROM api_call"),
      "1");
  EXPECT_EQ(ask(database, "SELECT category FROM allocation"), "parameter");
  EXPECT_EQ(ask(database, "SELECT operation, step FROM collective"), "all_reduce|2");
  EXPECT_EQ(ask(database, "SELECT stage, step FROM device_memory"), "before cuda|-1;|2");
  EXPECT_EQ(ask(database, "SELECT keep FROM run"), "one-step");
}

TEST_F(RetentionTest, TheStepIsTheSameOnAllRanksAndGoesByTheSlowest) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t run_id = database.begin_run(make_run(database.begin_invocation("kymo run", {}), 8, 2));
  std::vector<std::filesystem::path> files;
  for (int rank = 0; rank < 2; ++rank) {
    event::PassRecord record = make_event_record();
    // With 1020 and 1030 on rank 0, step 2 is closest to the median; rank 1 changes it to 9000 and adds a step 4 of
    // 1040 that rank 0 never finished.
    if (rank == 1) {
      event::Sample last = record.samples.back();
      last.step = 4;
      last.phase = event::kWholeStep;
      last.host_ns = 1040;
      for (event::Sample& sample : record.samples) sample.host_ns = sample.step == 2 ? 9'000 : sample.host_ns;
      record.samples.push_back(last);
      record.trace.activities[3].step = 4;
    }
    files.push_back(rank_file_name(folder(), run_id, rank, Pass::kTrace));
    write_rank_file(files.back(), run_id, rank, Pass::kTrace, record);
  }
  database.finalize_run(run_id, Outcome{}, {}, files, Keep::kOneStep);
  EXPECT_EQ(ask(database, "SELECT rank, step FROM kernel"), "1|4");
}

TEST_F(RetentionTest, PassWithoutAMeasuredStepKeepsItsEvents) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  event::PassRecord record = make_event_record();
  record.samples.clear();
  store(database, Keep::kOneStep, record);
  EXPECT_EQ(ask(database, "SELECT count(*) FROM kernel"), "2");
  EXPECT_EQ(ask(database, "SELECT count(*) FROM memset"), "1");
}

TEST_F(RetentionTest, UnreadableFileIsADroppedRecordWhateverIsKept) {
  for (const Keep keep : {Keep::kSummary, Keep::kOneStep}) {
    ResultsDatabase database(path(std::string(to_string(keep)) + ".db"), Mode::kCreate);
    const std::int64_t run_id = database.begin_run(make_run(database.begin_invocation("kymo run", {})));
    const auto file = rank_file_name(folder(), run_id, 0, Pass::kTrace);
    put_content(file, "no database");
    database.finalize_run(run_id, Outcome{RunStatus::kFailed, "x"}, {}, {file}, keep);
    EXPECT_EQ(ask(database, "SELECT count(*) FROM dropped_record"), "1");
  }
}

TEST_F(RetentionTest, MergingCarriesTheWord) {
  {
    ResultsDatabase database(path("a.db"), Mode::kCreate);
    store(database, Keep::kSummary);
  }
  ResultsDatabase merged(path("b.db"), Mode::kCreate);
  merged.merge(path("a.db"));
  EXPECT_EQ(ask(merged, "SELECT keep FROM run"), "summary");
}

TEST_F(RetentionTest, OverheadComparesMediansWhereBothExist) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  event::PassRecord observed = make_event_record();
  for (event::Sample& sample : observed.samples) sample.host_ns *= 2;
  event::Sample unseen = observed.samples.back();
  unseen.phase = "only here";
  observed.samples.push_back(unseen);
  store(database, Keep::kAll, observed);
  // Steps 2 to 11 of the time pass take 1020 ... 1110 ns; steps 2 and 3 of the other pass take 2040 and 2060 ns.
  EXPECT_EQ(ask(database, "SELECT rank, pass, phase, steps, observed_ns, time_ns, ratio FROM overhead ORDER BY phase"),
            "0|trace|compute|2|1025|532.5|1.92488263;0|trace|step|2|2050|1065|1.92488263");
}

TEST_F(RetentionTest, OverheadNeedsATimePassOfTheSameRank) {
  ResultsDatabase database(path("a.db"), Mode::kCreate);
  const std::int64_t run_id = database.begin_run(make_run(database.begin_invocation("kymo run", {}), 8, 2));
  const auto time = rank_file_name(folder(), run_id, 0, Pass::kTime);
  const auto trace = rank_file_name(folder(), run_id, 1, Pass::kTrace);
  write_rank_file(time, run_id, 0, Pass::kTime, make_record());
  write_rank_file(trace, run_id, 1, Pass::kTrace, make_record());
  database.finalize_run(run_id, Outcome{RunStatus::kFailed, "x"}, {}, {time, trace});
  EXPECT_EQ(ask(database, "SELECT count(*) FROM overhead"), "0");
}

}  // namespace
}  // namespace kymo::store::testing
