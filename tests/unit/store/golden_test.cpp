// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "store/results.hpp"
#include "store/schema_version.hpp"
#include "unit/store/event_record.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using Mode = ResultsDatabase::Mode;

/// Databases of every released schema version, as SQL text in tests/golden: each must still open, be readable and
/// accept new runs.
class Golden : public StoreTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    tamper(path("golden.db"), content_of(std::filesystem::path(KYMO_SOURCE_DIR) / "tests" / "golden" / GetParam()));
  }
};

TEST_P(Golden, IsReadWithoutBeingWritten) {
  const std::string before = content_of(path("golden.db"));
  {
    ResultsDatabase database(path("golden.db"), Mode::kReadOnly);
    EXPECT_EQ(database.select_runs({}), 2);
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

TEST_P(Golden, HasTheTablesOfTheNewestSchema) {
  for (const Mode mode : {Mode::kReadOnly, Mode::kReadWrite}) {
    const ResultsDatabase database(path("golden.db"), mode);
    EXPECT_EQ(ask(database, "SELECT keep FROM run"), "all;all");
    for (const TableContent& content : event_contents()) {
      const bool has_events = std::string(GetParam()) >= "schema_" + std::to_string(content.since) + ".sql";
      const std::string rows = ask(database, "SELECT " + content.columns + " FROM " + content.table + " t");
      EXPECT_EQ(rows, has_events ? content.expected : "") << content.table;
    }
  }
  EXPECT_EQ(Connection(path("golden.db"), Connection::Access::kReadOnly).integer("PRAGMA user_version"),
            own_schema().version());
}

INSTANTIATE_TEST_SUITE_P(Schemas, Golden,
                         ::testing::Values("schema_1.sql", "schema_2.sql", "schema_3.sql", "schema_4.sql"));

}  // namespace
}  // namespace kymo::store::testing
