// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "store/results.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using Mode = ResultsDatabase::Mode;

class Recovery : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    std::filesystem::create_directories(path("scratch"));
    database_ = std::make_unique<ResultsDatabase>(path("a.db"), Mode::kCreate);
    invocation_ = database_->begin_invocation("kymo run", {});
  }
  void TearDown() override {
    database_.reset();
    StoreTest::TearDown();
  }
  std::int64_t begin() { return database_->begin_run(make_run(invocation_)); }
  std::string statuses() { return ask(*database_, "SELECT status FROM run ORDER BY run_id"); }
  std::unique_ptr<ResultsDatabase> database_;
  std::int64_t invocation_ = 0;
};

TEST_F(Recovery, ClosesListedRunsAndImportsTheirFiles) {
  const std::int64_t finished = store_run(*database_, invocation_, folder());
  const std::int64_t with_file = begin();
  const std::int64_t without_file = begin();
  begin();  // of another supervisor
  event::PassRecord verified = make_record(0);
  verified.checks.push_back({"y", event::CheckOutcome::kPassed, 0.0, 0.0, 1e-5, "float64", ""});
  write_rank_file(rank_file_name(path("scratch"), with_file, 0, measure::Pass::kTime), with_file, 0,
                  measure::Pass::kTime, make_record());
  write_rank_file(rank_file_name(path("scratch"), with_file, 0, measure::Pass::kVerify), with_file, 0,
                  measure::Pass::kVerify, verified);
  put_content(path("scratch") / ("RUN-" + std::to_string(without_file) + "-0-time.kymo.unfinished-1"), "half");
  put_content(path("scratch") / "runs",
              std::to_string(finished) + "\n" + std::to_string(with_file) + "\n" + std::to_string(without_file) + "\n");
  EXPECT_EQ(database_->recover(path("scratch")), 2);
  EXPECT_EQ(statuses(), "ok;interrupted;interrupted;running");
  EXPECT_EQ(ask(*database_, "SELECT count(*) FROM sample WHERE run_id = " + std::to_string(with_file)), "24");
  EXPECT_EQ(ask(*database_, "SELECT verification FROM run ORDER BY run_id"), ";passed;;");
  EXPECT_EQ(ask(*database_, "SELECT count(*) FROM dropped_record"), "0");
  EXPECT_EQ(database_->recover(path("scratch")), 0);
  EXPECT_TRUE(std::filesystem::exists(path("scratch") / "runs"));
}

TEST_F(Recovery, DamagedFileBecomesADroppedRecord) {
  const std::int64_t run_id = begin();
  put_content(rank_file_name(path("scratch"), run_id, 0, measure::Pass::kTime), "garbage");
  put_content(path("scratch") / "runs", std::to_string(run_id) + "\n");
  EXPECT_EQ(database_->recover(path("scratch")), 1);
  EXPECT_EQ(ask(*database_, "SELECT rank, pass FROM dropped_record"), "0|time");
}

TEST_F(Recovery, HalfALineAndNonsenseAreIgnored) {
  for (int i = 0; i < 12; ++i) begin();
  put_content(path("scratch") / "runs", "x\n\n 3\n-1\n99999999999999999999\n2\n1");
  EXPECT_EQ(database_->recover(path("scratch")), 1);
  EXPECT_EQ(ask(*database_, "SELECT run_id FROM run WHERE status = 'interrupted'"), "2");
}

TEST_F(Recovery, FolderWithoutListClosesNothing) {
  begin();
  EXPECT_EQ(database_->recover(path("scratch")), 0);
  EXPECT_EQ(database_->recover(path("gone")), 0);
  EXPECT_EQ(statuses(), "running");
}

TEST_F(Recovery, RunsWithoutAFolderCanBeClosed) {
  store_run(*database_, invocation_, folder());
  const std::int64_t orphan = begin();
  begin();
  ASSERT_EQ(database_->running_runs().size(), 2u);
  EXPECT_EQ(database_->running_runs()[0].run_id, orphan);
  EXPECT_EQ(database_->recover_runs({1, orphan, 777}), 1);
  EXPECT_EQ(statuses(), "ok;interrupted;running");
}

TEST_F(Recovery, SupervisorThatWasTakenForDeadHasTheLastWord) {
  const std::int64_t run_id = begin();
  EXPECT_EQ(database_->recover_runs({run_id}), 1);
  const auto file = rank_file_name(path("scratch"), run_id, 0, measure::Pass::kTime);
  write_rank_file(file, run_id, 0, measure::Pass::kTime, make_record());
  database_->finalize_run(run_id, Outcome{}, {}, {file});
  EXPECT_EQ(ask(*database_, "SELECT status, detail FROM run"), "ok|");
}

}  // namespace
}  // namespace kymo::store::testing
