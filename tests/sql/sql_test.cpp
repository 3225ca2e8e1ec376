// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "embedded_schema.hpp"

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

/// Numbers with nine digits, so that the last bits of a double do not matter.
std::string csv_cell(sqlite3_stmt* statement, int column) {
  if (sqlite3_column_type(statement, column) != SQLITE_FLOAT)
    return csv_field(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)));
  char text[64];
  std::snprintf(text, sizeof text, "%.9g", sqlite3_column_double(statement, column));
  return text;
}

/// Executes all statements; those that return rows become CSV with a header.
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
  for (const auto& script : kymo::schemas::migrations()) execute(raw, script.sql);
  for (const auto& script : kymo::schemas::views()) execute(raw, script.sql);
  execute(raw, read(kFolder / "common" / "runs.sql"));
  return database;
}

std::vector<std::string> names_of_cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".sql") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class SqlTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SqlTest, RowsInCsvOut) {
  const Database database = make_database();
  const std::string actual = execute(database.get(), read(kFolder / (GetParam() + ".sql")));
  EXPECT_EQ(actual, read(kFolder / (GetParam() + ".csv")));
}

INSTANTIATE_TEST_SUITE_P(Views, SqlTest, ::testing::ValuesIn(names_of_cases()), [](const auto& parameter) { return parameter.param; });

TEST(Views, EachHasACase) {
  const Database database = make_database();
  const auto cases = names_of_cases();
  std::istringstream views(execute(database.get(), "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name"));
  std::string name;
  std::getline(views, name);
  int count = 0;
  for (; std::getline(views, name); ++count) {
    EXPECT_TRUE(std::find(cases.begin(), cases.end(), name) != cases.end()) << "tests/sql/" << name << ".sql is missing";
  }
  EXPECT_GT(count, 10);
}

TEST(Views, UseOnlyWhatOldSqliteKnows) {
  // The sqlite3 shell of a user may be 3.34, without the mathematical functions and without STRICT, RETURNING, ->>, RIGHT JOIN or IS
  // DISTINCT FROM.
  const std::regex too_new(
      R"(\b(sqrt|pow|power|log|ln|exp|ceil|floor|STRICT|RETURNING|unixepoch|RIGHT JOIN|FULL JOIN|IS DISTINCT FROM)\b\s*\(?|->>)");
  const std::regex comment("--[^\n]*");
  for (const auto* scripts : {&kymo::schemas::migrations(), &kymo::schemas::views()}) {
    for (const auto& script : *scripts) {
      const std::string code = std::regex_replace(script.sql, comment, "");
      std::smatch found;
      EXPECT_FALSE(std::regex_search(code, found, too_new)) << script.name << " uses " << found.str();
    }
  }
}

}  // namespace
