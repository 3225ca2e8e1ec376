// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "report/run_selection.hpp"
#include "store/results.hpp"
#include "store/unknown_name.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Cell = ResultsDatabase::Cell;
using Mode = ResultsDatabase::Mode;

class Query : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    make_database(path("a.db"));
  }
};

TEST_F(Query, CellsKeepTheirTypes) {
  const ResultsDatabase database(path("a.db"), Mode::kReadOnly);
  const auto table = database.query(
      "SELECT NULL AS absent, 9007199254740993 AS whole, 0.1 AS part, 'x' AS word, x'00ff' AS bytes;  -- done\n");
  EXPECT_THAT(table.columns, ElementsAre("absent", "whole", "part", "word", "bytes"));
  const auto& row = table.rows.at(0);
  EXPECT_EQ(row[0].type, Cell::Type::kNull);
  EXPECT_EQ(row[1].integer, 9007199254740993);
  EXPECT_EQ(row[1].type, Cell::Type::kInteger);
  EXPECT_EQ(row[2].real, 0.1);
  EXPECT_EQ(row[2].type, Cell::Type::kReal);
  EXPECT_EQ(row[3].text, "x");
  EXPECT_EQ(row[4].text, "x'00ff'");
  EXPECT_TRUE(database.query("SELECT * FROM run WHERE 0").rows.empty());
}

TEST_F(Query, ParametersAreBoundNotPasted) {
  const ResultsDatabase database(path("a.db"), Mode::kReadOnly);
  const auto table = database.query("SELECT :a AS a, (SELECT count(*) FROM run WHERE run_id = :id) AS n",
                                    {{"a", "'; DROP TABLE run"}, {"id", "1"}, {"b", "unused"}});
  EXPECT_EQ(table.rows.at(0)[0].text, "'; DROP TABLE run");
  EXPECT_EQ(table.rows.at(0)[1].integer, 1);
  EXPECT_THAT(error_of([&] { database.query("SELECT :missing"); }), HasSubstr("':missing'"));
}

TEST_F(Query, AdmitsReadingOnly) {
  ResultsDatabase database(path("a.db"), Mode::kReadWrite);
  report::RunSelection runs(database);
  runs.select({});
  const std::string before = content_of(path("a.db"));
  for (const char* sql : {"DELETE FROM run",
                          "INSERT INTO meta VALUES ('a', 'b')",
                          "UPDATE run SET label = 'x'",
                          "DROP TABLE run",
                          "CREATE TABLE t (x)",
                          "CREATE TEMP TABLE t (x)",
                          "DELETE FROM temp.selected_run",
                          "ATTACH 'x.db' AS x",
                          "DETACH main",
                          "PRAGMA user_version = 5",
                          "PRAGMA application_id = 5",
                          "PRAGMA journal_mode = OFF",
                          "PRAGMA writable_schema = ON",
                          "BEGIN",
                          "COMMIT",
                          "VACUUM",
                          "VACUUM INTO 'x.db'",
                          "REINDEX",
                          "ANALYZE",
                          "SAVEPOINT x",
                          "SELECT load_extension('x')",
                          "WITH a AS (SELECT 1) DELETE FROM run"}) {
    EXPECT_THROW(database.query(sql), UsageError) << sql;
  }
  EXPECT_EQ(content_of(path("a.db")), before);
  EXPECT_FALSE(std::filesystem::exists("x.db"));
  EXPECT_EQ(ask(database, "SELECT count(*) FROM selected_run"), "1");
  EXPECT_EQ(ask(database, "SELECT count(*) > 5 FROM pragma_table_info('run')"), "1");
  EXPECT_FALSE(database.query("PRAGMA table_info(run)").rows.empty());
  database.begin_invocation("still writes", {});
}

TEST_F(Query, AdmitsOneStatementOnly) {
  const ResultsDatabase database(path("a.db"), Mode::kReadOnly);
  EXPECT_THAT(error_of([&] { database.query("SELECT 1; SELECT 2"); }), HasSubstr("more than one statement"));
  EXPECT_THROW(database.query("SELECT 1; DROP TABLE run"), UsageError);
  EXPECT_THROW(database.query("SELECT 1; nonsense"), UsageError);
  EXPECT_THAT(error_of([&] { database.query(""); }), HasSubstr("empty"));
  EXPECT_THAT(error_of([&] { database.query(" -- nothing\n;"); }), HasSubstr("empty"));
  EXPECT_EQ(ask(database, "SELECT 1;;; /* end */ ;"), "1");
}

TEST_F(Query, ErrorsGiveSqlitesReason) {
  const ResultsDatabase database(path("a.db"), Mode::kReadOnly);
  EXPECT_THAT(error_of([&] { database.query("SELECT colour FROM run"); }), HasSubstr("no such column: colour"));
  EXPECT_THAT(error_of([&] { database.query("SELEC"); }), HasSubstr("syntax error"));
  EXPECT_THAT(error_of([&] { database.query("SELECT zeroblob(1000000000)"); }), HasSubstr("too big"));
  EXPECT_THROW(database.query("SELECT abs(-9223372036854775808)"), UsageError);
}

TEST_F(Query, SuggestsTheNearestName) {
  const ResultsDatabase database(path("a.db"), Mode::kReadOnly);
  const auto error = [&](const char* sql) { return error_of([&] { database.query(sql); }); };
  EXPECT_THAT(error("SELECT * FROM phase_times"), HasSubstr("no such table: phase_times; did you mean 'phase_time'?"));
  EXPECT_THAT(error("SELECT * FROM main.runlist"), HasSubstr("did you mean 'run_list'?"));
  EXPECT_THAT(error("SELECT * FROM busbw_factors"), Not(HasSubstr("'_")));
  EXPECT_THAT(error("SELECT * FROM nothing_alike_at_all"), HasSubstr("see docs/schema.md"));
  EXPECT_THAT(error("SELECT t.mean_m FROM phase_time t"),
              HasSubstr("no such column: t.mean_m; did you mean 'mean_ms'?"));
  EXPECT_THAT(error("SELECT 1 FROM phase_time WHERE worklod = 'saxpy'"), HasSubstr("did you mean 'workload'?"));
  EXPECT_THAT(error("SELECT xyzzy FROM run_machine"), HasSubstr("; known: run_id, machine"));
  EXPECT_THAT(error("SELECT medain(mean_ms) FROM phase_time"), HasSubstr("did you mean 'median'?"));
}

TEST_F(Query, SuggestsColumnsOfTheRelationsOfTheStatement) {
  const ResultsDatabase database(path("a.db"), Mode::kReadOnly);
  const auto error = [&](const char* sql) { return error_of([&] { database.query(sql); }); };
  EXPECT_EQ(error("SELECT rank FROM failures"), "invalid statement: no such column: rank; did you mean 'failed_rank'?")
      << "the column of the table rank, which the statement does not read";
  EXPECT_EQ(error("SELECT f.rank FROM failures f JOIN rank r ON r.run_id = f.run_id"),
            "invalid statement: no such column: f.rank; did you mean 'failed_rank'?");
  EXPECT_EQ(error("SELECT seed FROM run_machine"),
            "invalid statement: no such column: seed; known: run_id, machine; 'seed' is a column of current_run, run, "
            "training_run");
  EXPECT_THAT(error("SELECT 1 FROM run_machine WHERE machin = 'run_id, status FROM run'"),
              HasSubstr("did you mean 'machine'?"));
  EXPECT_THAT(error("SELECT * FROM temp.run"), Not(HasSubstr("'run'")));
}

TEST(RelationsIn, AreThoseOfFromClauses) {
  const auto names = [](const char* sql) {
    std::vector<std::string> found;
    for (const Relation& each : relations_in(sql)) found.push_back(each.name + " " + each.alias);
    return found;
  };
  EXPECT_THAT(names("SELECT rank, t.run FROM Failures -- FROM no\n WHERE detail = 'FROM no' ORDER BY status"),
              ElementsAre("failures failures"));
  EXPECT_THAT(names("select 1 from main.run AS r, \"phase_time\" p left join rank using (run_id), failures f where 1"),
              ElementsAre("run r", "phase_time p", "rank rank", "failures f"));
  EXPECT_THAT(names("WITH a AS (SELECT x, y FROM b) SELECT max(c, d) FROM a, (SELECT e FROM f g GROUP BY e, h) i "
                    "WHERE j IN (SELECT k FROM l) AND m IN n UNION SELECT o IS DISTINCT FROM p FROM (q JOIN r ON 1)"),
              ElementsAre("b b", "a a", "f g", "l l", "n n", "q q", "r r"));
  EXPECT_THAT(names("SELECT 1"), IsEmpty());
  EXPECT_THAT(names("FROM"), IsEmpty());
  EXPECT_THAT(names("SELECT ') FROM (("), IsEmpty());
}

TEST_F(Query, HasStatisticsFunctions) {
  const ResultsDatabase database(path("a.db"), Mode::kReadOnly);
  const std::string values =
      " FROM (SELECT column1 AS g, column2 AS x FROM (VALUES (1, 7), (1, 1.0), (1, NULL), (1, 4), "
      "(1, 2), (2, 5), (3, NULL)))";
  EXPECT_EQ(ask(database,
                "SELECT median(x), percentile(x, 25), percentile(x, 0), percentile(x, 100)" + values + " WHERE g = 1"),
            "3|1.75|1|7");
  EXPECT_EQ(ask(database, "SELECT g, median(x) || '', round(stddev(x), 6) || ''" + values + " GROUP BY g ORDER BY g"),
            "1|3.0|2.645751;2|5.0|NULL;3|NULL|NULL");
  EXPECT_EQ(ask(database, "SELECT median(x)" + values + " WHERE g = 9"), "NULL");
  EXPECT_EQ(ask(database,
                "SELECT median(column1) OVER (ORDER BY rowid ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM "
                "(SELECT column1, column2 AS rowid FROM (VALUES (1, 1), (NULL, 2), (5, 3), (8, 4)))"),
            "1;1;5;6.5");
  EXPECT_THAT(error_of([&] { database.query("SELECT median('a')"); }), HasSubstr("take numbers"));
  EXPECT_THAT(error_of([&] { database.query("SELECT percentile(1, 101)"); }), HasSubstr("constant from 0 to 100"));
  EXPECT_THAT(error_of([&] { database.query("SELECT percentile(column1, column1) FROM (VALUES (1), (2))"); }),
              HasSubstr("constant from 0 to 100"));
}

TEST_F(Query, IsLimitedInTimeAndMemory) {
  ResultsDatabase database(path("a.db"), Mode::kReadOnly);
  const std::string endless = "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) ";
  database.set_limits({.seconds = 0.05});
  EXPECT_THAT(error_of([&] { database.query(endless + "SELECT count(*) FROM a"); }),
              HasSubstr("stopped after its limit of 0.05 s"));
  database.set_limits({.memory_bytes = 16 << 20});
  EXPECT_THAT(error_of([&] { database.query(endless + "SELECT x, hex(randomblob(1000)) FROM a ORDER BY 2"); }),
              HasSubstr("more memory than its limit of 16.0 MiB"));
  EXPECT_THAT(error_of([&] { database.query(endless + "SELECT median(x) FROM a"); }), HasSubstr("more memory"));
  EXPECT_EQ(ask(database, "SELECT count(*) FROM run"), "1");
}

TEST_F(Query, ViewsAnswer) {
  const ResultsDatabase database(path("a.db"), Mode::kReadOnly);
  EXPECT_EQ(ask(database, "SELECT workload, parameters, device_name, status, verification, clock, count FROM run_list"),
            "saxpy|causal=true dtype=fp32 n=0 scale=0.5|A processor|ok|not verified|host|10");
  EXPECT_EQ(ask(database, "SELECT phase, clock, round(mean_ms * 1e6, 1) FROM phase_time ORDER BY phase"),
            "compute|device|531.5;step|host|1065");
}

}  // namespace
}  // namespace kymo::store::testing
