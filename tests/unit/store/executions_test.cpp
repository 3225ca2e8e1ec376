// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "store/results.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using measure::Pass;

/// `calls` of phase "forward" in each step, the first of which is a warm-up step.
event::PassRecord record_of(const std::vector<std::int64_t>& calls) {
  event::PassRecord record;
  for (std::size_t step = 0; step < calls.size(); ++step) {
    event::Sample whole;
    whole.step = static_cast<std::int64_t>(step);
    whole.phase = event::kWholeStep;
    whole.warmup = step == 0;
    whole.host_ns = 1000;
    event::Sample forward = whole;
    forward.phase = "forward";
    forward.calls = calls[step];
    record.samples.push_back(whole);
    record.samples.push_back(forward);
  }
  return record;
}

class Executions : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    database_ = std::make_unique<ResultsDatabase>(path("a.db"), ResultsDatabase::Mode::kCreate);
    invocation_ = database_->begin_invocation("kymo trace", {});
  }

  void add(Pass pass, int rank, const std::vector<std::int64_t>& calls) { passes_.push_back({pass, rank, calls}); }

  /// Stores a run of the added passes; returns its warnings.
  std::string stored(measure::Timing timing = measure::Timing::kFree) {
    RunRow row = make_run(invocation_, 8, 1);
    row.method.timing = timing;
    const std::int64_t run_id = database_->begin_run(row);
    std::vector<std::filesystem::path> files;
    std::vector<WorkerRow> workers;
    for (const auto& [pass, rank, calls] : passes_) {
      files.push_back(rank_file_name(folder(), run_id, rank, pass));
      write_rank_file(files.back(), run_id, rank, pass, record_of(calls));
      WorkerRow& worker = workers.emplace_back();
      worker.rank = rank;
      worker.pass = pass;
    }
    database_->finalize_run(run_id, {}, workers, files, Keep::kAll);
    const std::string id = std::to_string(run_id);
    overheads_ = ask(*database_, "SELECT count(*) FROM trace_overhead WHERE phase = 'step' AND run_id = " + id);
    return ask(*database_, "SELECT pass, detail FROM warning WHERE kind = 'different executions' AND run_id = " + id);
  }

  struct PassOfRank {
    Pass pass;
    int rank;
    std::vector<std::int64_t> calls;
  };
  std::unique_ptr<ResultsDatabase> database_;
  std::int64_t invocation_ = 0;
  std::vector<PassOfRank> passes_;
  std::string overheads_;
};

TEST_F(Executions, PassesThatDidTheSame) {
  add(Pass::kTime, 0, {1, 2, 2, 3, 2});  // measures more steps than the others
  add(Pass::kMemory, 0, {7, 2, 2});      // warm-up steps may differ
  add(Pass::kOps, 0, {1, 2, 2});
  EXPECT_EQ(stored(), "");
  EXPECT_EQ(overheads_, "2");
}

TEST_F(Executions, OtherCallsInAStep) {
  add(Pass::kTime, 0, {1, 2, 2});
  add(Pass::kOps, 0, {1, 2, 3});
  EXPECT_EQ(stored(), "ops|in measured step 2, pass time entered forward 2; pass ops entered forward 3");
  EXPECT_EQ(overheads_, "0");
}

TEST_F(Executions, OtherNumbersOfSteps) {
  add(Pass::kTime, 0, {1, 2});
  add(Pass::kOps, 0, {1, 2, 2});
  EXPECT_EQ(stored(), "ops|pass time measured 1 steps, pass ops 2");
  passes_.clear();
  add(Pass::kMemory, 0, {1, 2, 2});
  add(Pass::kOps, 0, {1, 2});
  EXPECT_EQ(stored(), "ops|pass memory measured 2 steps, pass ops 1");
}

TEST_F(Executions, EachRankIsComparedWithItself) {
  add(Pass::kMemory, 0, {1, 2});
  add(Pass::kMemory, 1, {1, 5});
  add(Pass::kOps, 0, {1, 2});
  add(Pass::kOps, 1, {1, 4});
  EXPECT_EQ(stored(), "ops|rank 1: in measured step 1, pass memory entered forward 5; pass ops entered forward 4");
}

TEST_F(Executions, WorkloadsOfAPluginAreNotCompared) {
  add(Pass::kTime, 0, {1, 2, 2});
  add(Pass::kOps, 0, {1, 2, 3});
  EXPECT_EQ(stored(measure::Timing::kSync), "");
  EXPECT_EQ(overheads_, "1");
}

}  // namespace
}  // namespace kymo::store::testing
