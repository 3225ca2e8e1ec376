// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "store/results.hpp"
#include "store/sqlite.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using ::testing::HasSubstr;
using Mode = ResultsDatabase::Mode;

class Merging : public StoreTest {};

TEST_F(Merging, RemapsIdsAndKeepsEverything) {
  make_database(path("a.db"), 2);
  make_database(path("b.db"), 3);
  ResultsDatabase a(path("a.db"), Mode::kReadWrite);
  const std::string b_before = content_of(path("b.db"));
  const MergeReport report = a.merge(path("b.db"));
  EXPECT_EQ(content_of(path("b.db")), b_before);
  EXPECT_EQ(report.invocations_added, 1);
  EXPECT_EQ(report.runs_added, 3);
  EXPECT_EQ(report.runs_already_there, 0);
  EXPECT_EQ(ask(a, "SELECT count(*), count(DISTINCT run_id) FROM run"), "5|5");
  EXPECT_EQ(ask(a, "SELECT count(*) FROM plugin"), "1");
  EXPECT_EQ(ask(a, "SELECT count(*) FROM device"), "1");
  EXPECT_EQ(ask(a, "SELECT DISTINCT count(*) FROM sample GROUP BY run_id"), "24");
  const ResultsDatabase b(path("b.db"), Mode::kReadOnly);
  const std::string all =
      "SELECT r.sequence, r.started_at, r.plan_key, s.mean_ns, k.stdout, k.resident_peak_bytes, d.uuid, p.value FROM "
      "run r "
      "JOIN statistic s ON s.run_id = r.run_id JOIN rank k ON k.run_id = r.run_id JOIN device d ON d.device_id = "
      "k.device_id "
      "JOIN param p ON p.run_id = r.run_id WHERE r.run_id > ";
  EXPECT_EQ(ask(a, all + "2 ORDER BY 1, 4, 8"), ask(b, all + "0 ORDER BY 1, 4, 8"));
  EXPECT_EQ(ask(a, "SELECT name, value FROM environment_fact WHERE invocation_id = 2"),
            ask(b, "SELECT name, value FROM environment_fact"));
  EXPECT_EQ(ask(a, "SELECT DISTINCT name, sha256 FROM run_library WHERE run_id > 2"), "librest.so|7b7b");
}

TEST_F(Merging, AddsPropertiesOfADeviceThatAnOlderVersionDidNotStore) {
  make_database(path("a.db"), 1);
  make_database(path("b.db"), 1);
  const std::string limits = "SELECT name, multiprocessors, multiprocessor_threads, reserved_shared_bytes FROM device";
  EXPECT_EQ(ask(ResultsDatabase(path("b.db"), Mode::kReadOnly), limits), "A processor|8|2048|1024");
  Connection(path("a.db"), Connection::Access::kReadWrite)
      .exec("UPDATE device SET name = 'older', multiprocessor_threads = NULL, multiprocessors = 7");
  ResultsDatabase a(path("a.db"), Mode::kReadWrite);
  a.merge(path("b.db"));
  EXPECT_EQ(ask(a, limits), "older|7|2048|1024");
}

TEST_F(Merging, DoingItAgainChangesNothing) {
  make_database(path("a.db"), 1);
  make_database(path("b.db"), 2);
  {
    ResultsDatabase a(path("a.db"), Mode::kReadWrite);
    a.merge(path("b.db"));
  }
  ResultsDatabase a(path("a.db"), Mode::kReadWrite);
  const std::string counts =
      "SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM sample), (SELECT count(*) FROM invocation), "
      "(SELECT count(*) FROM environment), (SELECT max(run_id) FROM run)";
  const std::string before = ask(a, counts);
  const MergeReport report = a.merge(path("b.db"));
  EXPECT_EQ(report.invocations_added, 0);
  EXPECT_EQ(report.runs_added, 0);
  EXPECT_EQ(report.runs_already_there, 2);
  EXPECT_EQ(ask(a, counts), before);
}

TEST_F(Merging, TakesWhatAnInvocationAddedSince) {
  ResultsDatabase(path("a.db"), Mode::kCreate);
  ResultsDatabase b(path("b.db"), Mode::kCreate);
  const std::int64_t invocation = b.begin_invocation("kymo run", {});
  store_run(b, invocation, folder());
  const std::int64_t open = b.begin_run(make_run(invocation));
  ResultsDatabase a(path("a.db"), Mode::kReadWrite);
  EXPECT_EQ(a.merge(path("b.db")).runs_added, 1) << "a running run stays out";
  EXPECT_EQ(ask(a, "SELECT ended_at FROM invocation"), "NULL");
  b.finalize_run(open, Outcome{RunStatus::kFailed, "x"}, {}, {});
  b.end_invocation(invocation, 3);
  const MergeReport report = a.merge(path("b.db"));
  EXPECT_EQ(report.runs_added, 1);
  EXPECT_EQ(report.runs_already_there, 1);
  EXPECT_EQ(ask(a, "SELECT sequence, status FROM run ORDER BY run_id"), "0|ok;1|failed");
  EXPECT_EQ(ask(a, "SELECT exit_code FROM invocation"), "3");
}

TEST_F(Merging, KeepsPlannedRuns) {
  ResultsDatabase b(path("b.db"), Mode::kCreate);
  const std::int64_t invocation = b.begin_invocation("kymo run", {});
  const RunRow first = make_run(invocation, 8);
  const RunRow second = make_run(invocation, 9);
  b.plan_runs(invocation, {&first, &second});
  store_run(b, invocation, folder(), 8);
  const std::string unstarted = "SELECT sequence, parameters ->> '$.n', reason FROM unstarted_run";
  EXPECT_THAT(ask(b, unstarted), HasSubstr("1|9|the command was killed"));
  make_database(path("a.db"), 1);
  ResultsDatabase a(path("a.db"), Mode::kReadWrite);
  for (int i = 0; i < 2; ++i) {
    a.merge(path("b.db"));
    EXPECT_EQ(ask(a, unstarted), ask(b, unstarted));
    EXPECT_EQ(ask(a, "SELECT invocation_id, sequence FROM planned_run"), "2|0;2|1");
  }
  b.begin_run(second);
  EXPECT_THAT(ask(b, "SELECT count(*) FROM unstarted_run"), "0");
}

TEST_F(Merging, GoesRoundWithoutDoubling) {
  make_database(path("a.db"), 1);
  make_database(path("b.db"), 1);
  {
    ResultsDatabase a(path("a.db"), Mode::kReadWrite);
    a.merge(path("b.db"));
  }
  ResultsDatabase b(path("b.db"), Mode::kReadWrite);
  const MergeReport report = b.merge(path("a.db"));
  EXPECT_EQ(report.runs_added, 1);
  EXPECT_EQ(report.runs_already_there, 1);
  EXPECT_EQ(ask(b, "SELECT count(*) FROM run"), "2");
}

TEST_F(Merging, RejectsItselfAndWhatIsNoDatabase) {
  make_database(path("a.db"), 1);
  std::filesystem::create_symlink(path("a.db"), path("link.db"));
  put_content(path("text"), "no database");
  ResultsDatabase a(path("a.db"), Mode::kReadWrite);
  EXPECT_THAT(error_of([&] { a.merge(path("link.db")); }), HasSubstr("into itself"));
  EXPECT_THAT(error_of([&] { a.merge(path("text")); }), HasSubstr("not an SQLite database"));
  EXPECT_THAT(error_of([&] { a.merge(path("missing")); }), HasSubstr("no such file"));
  EXPECT_EQ(ask(a, "SELECT count(*) FROM run"), "1");
}

TEST_F(Merging, InconsistentSourceChangesNothing) {
  make_database(path("a.db"), 1);
  make_database(path("b.db"), 2);
  tamper(path("b.db"), "UPDATE run SET invocation_id = 55 WHERE run_id = 2");
  ResultsDatabase a(path("a.db"), Mode::kReadWrite);
  EXPECT_THAT(error_of([&] { a.merge(path("b.db")); }), HasSubstr("nothing was merged"));
  EXPECT_EQ(ask(a, "SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM invocation)"), "1|1");
}

}  // namespace
}  // namespace kymo::store::testing
