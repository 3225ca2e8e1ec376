// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "embedded_schema.hpp"
#include "report/definition.hpp"
#include "store/sql_functions.hpp"

namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(KYMO_SOURCE_DIR) / "tests" / "sql";

struct Closer {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Database = std::unique_ptr<sqlite3, Closer>;

std::string read(const fs::path& file) {
  std::ifstream stream(file);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

std::string csv_field(const char* text) {
  if (text == nullptr) return "NULL";
  std::string field = text;
  if (field.find_first_of(",\"\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

/// Formats numbers with nine digits to ignore rounding errors.
std::string csv_cell(sqlite3_stmt* statement, int column) {
  if (sqlite3_column_type(statement, column) != SQLITE_FLOAT)
    return csv_field(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)));
  char text[64];
  std::snprintf(text, sizeof text, "%.9g", sqlite3_column_double(statement, column));
  return text;
}

/// Executes all statements and returns the rows of queries as CSV with a header.
std::string execute(sqlite3* database, const std::string& sql) {
  std::string csv;
  const char* rest = sql.c_str();
  while (*rest != '\0') {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, rest, -1, &statement, &rest) != SQLITE_OK) {
      ADD_FAILURE() << sqlite3_errmsg(database) << " before: " << std::string(rest).substr(0, 80);
      return csv;
    }
    if (statement == nullptr) break;
    const int columns = sqlite3_column_count(statement);
    for (int i = 0; i < columns; ++i)
      csv += (i > 0 ? "," : "") + csv_field(sqlite3_column_name(statement, i)) + (i + 1 == columns ? "\n" : "");
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
      for (int i = 0; i < columns; ++i) csv += (i > 0 ? "," : "") + csv_cell(statement, i);
      csv += "\n";
    }
    EXPECT_EQ(code, SQLITE_DONE) << sqlite3_errmsg(database);
    sqlite3_finalize(statement);
  }
  return csv;
}

Database make_database() {
  sqlite3* raw = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &raw), SQLITE_OK);
  Database database(raw);
  execute(raw, kymo::schemas::tables());
  for (const auto& script : kymo::schemas::views()) execute(raw, script.sql);
  execute(raw, read(kFolder / "common" / "runs.sql"));
  return database;
}

/// Returns the sorted names, without extension, of the files in a directory with this extension.
std::vector<std::string> names_of_files(const fs::path& folder, const std::string& extension) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> names_of_cases() { return names_of_files(kFolder, ".sql"); }

/// Adds the rows of common/NAME.sql for each line `-- with: NAME` of a case.
void add_rows_asked_for(sqlite3* database, const std::string& text) {
  static const std::regex kWith("-- with: ([a-z_]+)\n");
  for (std::sregex_iterator match(text.begin(), text.end(), kWith); match != std::sregex_iterator(); ++match)
    execute(database, read(kFolder / "common" / ((*match)[1].str() + ".sql")));
}

/// Creates a database for report queries: the runs of common/ROWS.sql, all selected.
Database make_report_database(const std::string& rows) {
  Database database = make_database();
  kymo::store::add_sql_functions(database.get());  // only reports use them
  execute(database.get(), read(kFolder / "common" / (rows + ".sql")));
  execute(database.get(),
          "CREATE TEMP TABLE selected_run (run_id INTEGER PRIMARY KEY, title TEXT, title_in_case TEXT);"
          "INSERT INTO selected_run SELECT * FROM run_title;"
          "CREATE TEMP TABLE selected_unstarted_run (position INTEGER PRIMARY KEY, suite_case TEXT, workload TEXT, "
          "title_in_case TEXT, warmup INTEGER, reason TEXT)");
  return database;
}

// KYMO_UPDATE_GOLDEN=1 writes the files that the tests compare with; check the difference before committing it.
void expect_rows(const std::string& actual, const fs::path& file) {
  if (std::getenv("KYMO_UPDATE_GOLDEN") != nullptr) std::ofstream(file) << actual;
  EXPECT_EQ(actual, read(file)) << file;
}

/// The queries of the tables and charts of an included report by the names of their output files, with the queries of
/// `with` that they read.
std::map<std::string, std::string> queries_of(const std::string& report) {
  std::map<std::string, std::string> queries;
  const auto add = [&queries](const kymo::report::QueryFile& query) {
    const std::string name = query.output_name.empty() ? fs::path(query.name).stem().string() : query.output_name;
    queries.emplace(name, query.sql);
  };
  for (const auto& section : kymo::report::read_definition(fs::path(KYMO_SOURCE_DIR) / "reports" / report).sections) {
    for (const auto& table : section.tables) add(table);
    for (const auto& chart : section.charts) {
      add(chart.query);
      for (const auto* query :
           {&chart.bands, &chart.blocks, &chart.roofs, &chart.counters, &chart.events, &chart.segments})
        if (*query) add(**query);
    }
  }
  return queries;
}

class SqlTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SqlTest, RowsInCsvOut) {
  const Database database = make_database();
  const std::string text = read(kFolder / (GetParam() + ".sql"));
  add_rows_asked_for(database.get(), text);
  const std::string actual = execute(database.get(), text);
  expect_rows(actual, kFolder / (GetParam() + ".csv"));
}

INSTANTIATE_TEST_SUITE_P(Views, SqlTest, ::testing::ValuesIn(names_of_cases()),
                         [](const auto& parameter) { return parameter.param; });

/// Queries of a report, by its name. The expected results are in reports/REPORT-QUERY.csv for profiled runs, in
/// reports/distributed/REPORT-QUERY.csv for multi-rank runs, in reports/attention/REPORT-QUERY.csv for attention runs
/// and in reports/compiled/REPORT-QUERY.csv for compiled and eager runs.
class ReportSqlTest : public ::testing::TestWithParam<std::string> {
 protected:
  // Selects the runs of the report's suite, as `kymo report` does.
  Database select(const std::string& rows) {
    Database database = make_report_database(rows);
    static const std::regex kSuite("\nsuite = \"([a-z0-9]+)\"\n");
    std::smatch match;
    const std::string definition = read(reports_ / "report.toml");
    if (std::regex_search(definition, match, kSuite))
      execute(database.get(), "DELETE FROM selected_run WHERE run_id NOT IN (SELECT run_id FROM run WHERE suite = '" +
                                  match[1].str() + "')");
    return database;
  }

  // Compares every query that has an expected result; returns their number.
  int compare(sqlite3* database, const fs::path& expectations) {
    int compared = 0;
    for (const auto& [name, query] : queries_of(GetParam())) {
      SCOPED_TRACE(name);
      const std::string actual = execute(database, query);
      const fs::path expected = expectations / (GetParam() + "-" + name + ".csv");
      if (!fs::exists(expected)) continue;
      expect_rows(actual, expected);
      ++compared;
    }
    return compared;
  }

  const fs::path reports_ = fs::path(KYMO_SOURCE_DIR) / "reports" / GetParam();
};

TEST_P(ReportSqlTest, ObservedRunsInCsvOut) {
  const Database database = select("collected");
  EXPECT_GT(compare(database.get(), kFolder / "reports"), 10);
}

TEST_P(ReportSqlTest, RunsOfSeveralRanksInCsvOut) {
  const Database database = select("distributed");
  EXPECT_GT(compare(database.get(), kFolder / "reports" / "distributed"), 5);
}

TEST_P(ReportSqlTest, RunsOfAttentionInCsvOut) {
  const Database database = select("attention");
  EXPECT_GT(compare(database.get(), kFolder / "reports" / "attention"), 0);
}

TEST_P(ReportSqlTest, CompiledRunsInCsvOut) {
  const Database database = select("compiled");
  EXPECT_GT(compare(database.get(), kFolder / "reports" / "compiled"), 0);
}

TEST_P(ReportSqlTest, NothingSelectedGivesNoRows) {
  for (const char* rows : {"collected", "distributed", "attention", "compiled"}) {
    const Database database = select(rows);
    execute(database.get(), "DELETE FROM selected_run");
    for (const auto& [name, query] : queries_of(GetParam())) {
      const std::string csv = execute(database.get(), query);
      EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1) << name << ": " << csv;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Reports, ReportSqlTest, ::testing::Values("quick", "cs336"),
                         [](const auto& parameter) { return parameter.param; });

TEST(Reports, PeaksInCsvOut) {
  const Database database = make_report_database("peaks");
  auto queries = queries_of("peaks");
  for (const char* name : {"peaks", "not_measured"})
    EXPECT_EQ(execute(database.get(), queries[name]),
              read(kFolder / "reports" / (std::string("peaks-") + name + ".csv")));
}

/// A run on a GPU and one on a CPU. Query `phases` needs functions of kymo and is tested end to end.
TEST(Reports, ProgramInCsvOut) {
  const Database database = make_report_database("collected");
  execute(database.get(), "CREATE TEMP TABLE every_run AS SELECT * FROM selected_run");
  for (const auto& [name, query] : queries_of("program")) {
    const fs::path expected = kFolder / "reports" / ("program-" + name + ".csv");
    if (!fs::exists(expected)) continue;
    SCOPED_TRACE(name);
    std::string actual;
    for (const char* run : {"11", "14"}) {
      execute(database.get(), std::string("DELETE FROM selected_run; INSERT INTO selected_run SELECT * FROM every_run "
                                          "WHERE run_id = ") +
                                  run);
      actual += execute(database.get(), query);
    }
    expect_rows(actual, expected);
  }
}

/// Two runs with kernels as the sides of a case, and a case with one side. Phases, memory and timelines are tested end
/// to end.
TEST(Reports, ComparisonInCsvOut) {
  const Database database = make_report_database("collected");
  execute(database.get(),
          "CREATE TEMP TABLE compared_case (case_id, title, before, after, before_runs, after_runs, before_ms, "
          "after_ms, ratio, ratio_low, ratio_high, verdict, statistic, before_other_ms, after_other_ms, "
          "before_unlike_steps, after_unlike_steps);"
          "CREATE TEMP TABLE compared_run (run_id, is_after, case_id, side);"
          "INSERT INTO compared_case VALUES (1, 'traced', 'old', 'new', 5, 6, 2.2, 0.79, 0.359, 0.35, 0.37, 'FASTER', "
          "'mean', 0.5, 0.79, '5 % are slow', ''), "
          "(2, 'one side', 'old', 'new', 1, 0, 4, NULL, NULL, NULL, NULL, 'only before', 'median', NULL, NULL, '', '');"
          "INSERT INTO compared_run VALUES (11, 0, 1, 'old'), (12, 1, 1, 'new'), (14, 0, 2, 'old');");
  for (const auto& [name, query] : queries_of("compare")) {
    SCOPED_TRACE(name);
    expect_rows(execute(database.get(), query), kFolder / "reports" / ("compare-" + name + ".csv"));
  }
}

TEST(Reports, KernelsWithHardwareCountersInCsvOut) {
  const Database database = make_report_database("peaks");
  for (const char* rows : {"distributed", "kernel_verdicts", "kernel_counts"})
    execute(database.get(), read(kFolder / "common" / (std::string(rows) + ".sql")));
  execute(database.get(),
          "UPDATE run SET family = 'text_training' WHERE run_id = 60;"
          "INSERT INTO selected_run SELECT * FROM run_title WHERE run_id = 60");
  for (const auto& [name, query] : queries_of("lab"))
    if (name.starts_with("counted"))
      expect_rows(execute(database.get(), query), kFolder / "reports" / "counted" / ("lab-" + name + ".csv"));
}

TEST(Reports, EachExpectationHasItsQuery) {
  for (const fs::path& folder :
       {kFolder / "reports", kFolder / "reports" / "distributed", kFolder / "reports" / "attention",
        kFolder / "reports" / "compiled", kFolder / "reports" / "counted"}) {
    for (const std::string& name : names_of_files(folder, ".csv")) {
      const std::size_t dash = name.find('-');
      EXPECT_TRUE(queries_of(name.substr(0, dash)).contains(name.substr(dash + 1))) << name;
    }
  }
}

/// A strategy and its parameters appear in the reports by their titles alone: no view and no query names them.
TEST(Reports, ShowANewStrategy) {
  const Database database = make_report_database("distributed");
  // Runs 60 and 61 are copies of run 21, the baseline.
  for (const char* run : {"60", "61"}) {
    for (const char* table : {"run", "param", "rank", "metric", "statistic", "sample", "clock_sync", "collective",
                              "\"range\"", "gpu_activity", "kernel_total", "step_activity"}) {
      execute(database.get(), std::string("CREATE TEMP TABLE copied AS SELECT * FROM main.") + table +
                                  " WHERE run_id = 21; UPDATE copied SET run_id = " + run + ";");
      if (table == std::string("run")) execute(database.get(), std::string("UPDATE copied SET sequence = ") + run);
      execute(database.get(),
              std::string("INSERT INTO main.") + table + " SELECT * FROM copied; DROP TABLE temp.copied;");
    }
  }
  execute(database.get(),
          "INSERT INTO selected_run SELECT * FROM run_title WHERE run_id IN (60, 61);"
          "UPDATE run SET workload = 'ddp_gossip', title = 'gossip', family_order = 7 WHERE run_id IN (60, 61);"
          "UPDATE statistic SET median_ns = 1e7 WHERE run_id = 60;"
          "INSERT INTO param (run_id, name, position, type, title, setting, value) VALUES"
          " (60, 'neighbors', 20, 'int', '{} neighbors', 0, 4), (61, 'parts', 4, 'int', ' in {} parts', 1, 8);");
  for (const char* query : {"quick/ddp", "quick/ddp_phases", "quick/waiting", "cs336/ddp", "cs336/ddp_phases",
                            "cs336/ddp_share", "cs336/ddp_overlap", "cs336/ddp_timeline", "cs336/waiting"}) {
    const fs::path place = query;
    const std::string csv = execute(database.get(), queries_of(place.parent_path())[place.filename()]);
    EXPECT_NE(csv.find("gossip, 4 neighbors"), std::string::npos) << query << ": " << csv;
  }
  EXPECT_EQ(execute(database.get(), "SELECT strategy, baseline, speedup FROM ddp_summary WHERE run_id = 60"),
            "strategy,baseline,speedup\n\"gossip, 4 neighbors\",ddp_naive,2\n");
  EXPECT_NE(execute(database.get(), "SELECT setting FROM ddp_summary WHERE run_id = 61").find("fp32 in 8 parts"),
            std::string::npos);
  EXPECT_EQ(execute(database.get(), "SELECT speedup FROM ddp_summary WHERE run_id = 61"), "speedup\nNULL\n")
      << "the baseline has another setting";
}

TEST(Views, ATimelineReadsTheEventsOfItsRunAlone) {
  // SQLite must flatten the view into the join; otherwise it reads the events of every run.
  const Database database = make_report_database("collected");
  for (const char* query : {"quick/timeline", "cs336/timeline", "quick/memory_bands", "cs336/memory_bands"}) {
    const fs::path place = query;
    const std::string plan =
        execute(database.get(), "EXPLAIN QUERY PLAN " + queries_of(place.parent_path())[place.filename()]);
    EXPECT_NE(plan.find("SEARCH k USING PRIMARY KEY (run_id=? AND rank=? AND pass=?)"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("MATERIALIZE timeline_bar"), std::string::npos) << plan;
    for (const char* table : {"g", "o", "k", "m", "a"})
      EXPECT_EQ(plan.find(std::string("SCAN ") + table + "\n"), std::string::npos) << plan;
  }
}

TEST(Views, AProfileReadsTheTotalsOfItsRunsAlone) {
  const Database database = make_report_database("collected");
  const std::string plan = execute(database.get(),
                                   "EXPLAIN QUERY PLAN SELECT p.name FROM selected_run s CROSS JOIN profile_entry p ON "
                                   "p.run_id = s.run_id AND p.rank = 0");
  EXPECT_EQ(plan.find("MATERIALIZE"), std::string::npos) << plan;
  EXPECT_NE(plan.find("SEARCH t USING PRIMARY KEY (run_id=? AND rank=?)"), std::string::npos) << plan;
}

TEST(Views, EachHasACase) {
  const Database database = make_database();
  const auto cases = names_of_cases();
  std::istringstream views(execute(database.get(), "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name"));
  std::string name;
  std::getline(views, name);
  int count = 0;
  for (; std::getline(views, name); ++count) {
    EXPECT_TRUE(std::find(cases.begin(), cases.end(), name) != cases.end())
        << "tests/sql/" << name << ".sql is missing";
  }
  EXPECT_GT(count, 10);
}

TEST(Views, UseOnlyWhatOldSqliteKnows) {
  // Views must work in the sqlite3 shell 3.34, without mathematical functions, STRICT, RETURNING, ->>, RIGHT JOIN,
  // IS DISTINCT FROM and MATERIALIZED.
  const std::regex too_new(R"(\b(sqrt|pow|power|log|ln|exp|ceil|floor|STRICT|RETURNING|unixepoch|RIGHT JOIN|FULL JOIN|)"
                           R"(IS DISTINCT FROM|MATERIALIZED)\b\s*\(?|->>)");
  const std::regex comment("--[^\n]*|'[^'\n]*'");
  for (const auto* scripts : {&kymo::schemas::migrations(), &kymo::schemas::views()}) {
    for (const auto& script : *scripts) {
      const std::string code = std::regex_replace(script.sql, comment, "");
      std::smatch found;
      EXPECT_FALSE(std::regex_search(code, found, too_new)) << script.name << " uses " << found.str();
    }
  }
}

}  // namespace
