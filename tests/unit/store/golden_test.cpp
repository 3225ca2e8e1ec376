// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>
#include <regex>
#include <set>
#include <string>

#include "report/run_selection.hpp"
#include "store/open.hpp"
#include "store/results.hpp"
#include "store/schema_version.hpp"
#include "unit/store/event_record.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using Mode = ResultsDatabase::Mode;

/// Databases of every released schema version, as SQL text in tests/golden. Each must still open, read and accept new
/// runs.
class Golden : public StoreTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    tamper(path("golden.db"), content_of(std::filesystem::path(KYMO_SOURCE_DIR) / "tests" / "golden" / GetParam()));
  }
};

/// The statements that create tables and indices by name, without comments and line breaks.
std::map<std::string, std::string> definitions(const Connection& connection) {
  static const std::vector<std::pair<std::regex, std::string>> kLayout{
      {std::regex("--[^\n]*"), ""}, {std::regex("\\s+"), " "}, {std::regex("\\( "), "("}, {std::regex(" \\)"), ")"}};
  std::map<std::string, std::string> found;
  Statement created(connection, "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql <> ''");
  while (created.step()) {
    std::string sql = created.text(1);
    for (const auto& [pattern, replacement] : kLayout) sql = std::regex_replace(sql, pattern, replacement);
    found[created.text(0)] = sql;
  }
  return found;
}

/// A migration must not change after its release, because it is never applied again to the databases that exist.
TEST_P(Golden, HasTheTablesThatItsMigrationsCreate) {
  const Connection golden(path("golden.db"), Connection::Access::kReadOnly);
  Schema released = own_schema();
  released.migrations.resize(static_cast<std::size_t>(golden.integer("PRAGMA user_version")));
  const auto migrated = Connection::temporary("migrated");
  migrate(*migrated, released);
  EXPECT_THAT(definitions(*migrated), ::testing::ContainerEq(definitions(golden)));
}

TEST_P(Golden, IsReadWithoutBeingWritten) {
  const std::string before = content_of(path("golden.db"));
  {
    ResultsDatabase database(path("golden.db"), Mode::kReadOnly);
    report::RunSelection runs(database);
    EXPECT_EQ(runs.select({}), 2);
    EXPECT_EQ(ask(database, "SELECT status, parameters, step_median_ms FROM run_list ORDER BY run_id"),
              "ok|causal=true dtype=fp32 n=0 scale=0.5|0.001065;oom|causal=true dtype=fp32 n=1 scale=0.5|NULL");
    EXPECT_EQ(ask(database, "SELECT phase, count, clock FROM phase_time ORDER BY phase"),
              "compute|10|device;step|10|host");
    EXPECT_EQ(ask(database, "SELECT requested_bytes, free_bytes FROM oom"), "5|3");
  }
  EXPECT_EQ(content_of(path("golden.db")), before);
}

TEST_P(Golden, TakesNewRunsAndMerges) {
  {
    ResultsDatabase database(path("golden.db"), Mode::kReadWrite);
    store_run(database, database.begin_invocation("kymo run", {}), folder());
    EXPECT_EQ(ask(database, "SELECT count(*) FROM run WHERE status = 'ok'"), "2");
  }
  ResultsDatabase other(path("other.db"), Mode::kCreate);
  EXPECT_EQ(other.merge(path("golden.db")).runs_added, 3);
}

TEST_P(Golden, ShowsBatchesThatWereNotHeldAsWarnings) {
  tamper(path("golden.db"),
         "INSERT INTO dropped_record (run_id, rank, pass, sequence, source, count, detail) VALUES (1, 0, 'time', 77, "
         "'hold', 2, 'late')");
  const ResultsDatabase database(path("golden.db"), Mode::kReadWrite);
  EXPECT_EQ(ask(database, "SELECT detail FROM run_warning WHERE run_id = 1 AND kind = 'launch overhead'"),
            "2 batches: late");
  EXPECT_EQ(ask(database, "SELECT count(*) FROM run_dropped_record WHERE source = 'hold'"), "0");
}

TEST_P(Golden, HasTheTablesOfTheNewestSchema) {
  for (const Mode mode : {Mode::kReadOnly, Mode::kReadWrite}) {
    const ResultsDatabase database(path("golden.db"), mode);
    EXPECT_EQ(ask(database, "SELECT keep FROM run"), "all;all");
    for (const TableContent& content : event_contents()) {
      static const std::set<std::string> kNewer{"idle_total", "saved_tensor", "memory_part", "kernel_count",
                                                "line_total"};
      const bool is_newer = kNewer.contains(content.table);  // nothing is known of the runs before
      EXPECT_EQ(ask(database, "SELECT " + content.columns + " FROM " + content.table + " t"),
                is_newer ? "" : content.expected)
          << content.table;
    }
  }
  EXPECT_EQ(Connection(path("golden.db"), Connection::Access::kReadOnly).integer("PRAGMA user_version"),
            own_schema().version());
}

/// A later schema version must be able to migrate the database, whatever its migration does: adds a column and a table.
TEST_P(Golden, IsMigratedToALaterSchema) {
  Schema next = own_schema();
  next.migrations.push_back({"next.sql",
                             "ALTER TABLE run ADD COLUMN color TEXT NOT NULL DEFAULT 'blue'; "
                             "CREATE TABLE shade (run_id INTEGER NOT NULL REFERENCES run, shade TEXT NOT NULL); "
                             "INSERT INTO shade SELECT run_id, color FROM run;"});
  next.tool_version = "99.0.0";
  const std::string before = content_of(path("golden.db"));
  EXPECT_EQ(open_results(path("golden.db"), Mode::kReadOnly, next)->integer("SELECT count(*) FROM shade"), 2);
  EXPECT_EQ(content_of(path("golden.db")), before);
  const auto writer = open_results(path("golden.db"), Mode::kReadWrite, next);
  EXPECT_EQ(writer->integer("SELECT count(*) FROM shade JOIN run USING (run_id) WHERE shade = color"), 2);
  EXPECT_EQ(writer->integer("PRAGMA user_version"), own_schema().version() + 1);
  EXPECT_EQ(meta_value(*writer, "schema_version"), std::to_string(own_schema().version() + 1));
}

INSTANTIATE_TEST_SUITE_P(Schemas, Golden, ::testing::Values("schema_1.sql"));

}  // namespace
}  // namespace kymo::store::testing
