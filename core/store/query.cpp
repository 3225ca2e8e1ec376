// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "store/impl.hpp"
#include "store/limited.hpp"
#include "store/unknown_name.hpp"

namespace kymo::store {
namespace {

/// Read-only pragmas.
bool is_harmless_pragma(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kNames{"table_info",       "table_xinfo",    "table_list",
                                                          "index_list",       "index_info",     "index_xinfo",
                                                          "foreign_key_list", "application_id", "user_version"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Allows only reads. Pragma functions (pragma_table_info ...) declare their tables internally, which looks like
/// creating a table; sqlite3_stmt_readonly rejects statements that really write.
int authorize(void*, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
    case SQLITE_CREATE_TABLE:
      return SQLITE_OK;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
      return first != nullptr && std::string_view(first) == "sqlite_master" ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
      return second != nullptr && std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: {
      // application_id and user_version take a value to set; the others take a table name.
      const std::string_view name = first != nullptr ? first : "";
      const bool sets = second != nullptr && (name == "application_id" || name == "user_version");
      return is_harmless_pragma(name) && !sets ? SQLITE_OK : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

[[noreturn]] void reject(const Connection& connection, const std::string& sql, const Limits& limits) {
  const int code = sqlite3_errcode(connection.handle()) & 0xff;
  if (code == SQLITE_AUTH)
    throw UsageError("the statement is not a read-only query; only SELECT (or WITH ... SELECT) is allowed");
  if (code == SQLITE_INTERRUPT)
    throw Error("the statement was stopped after its limit of " + shortest_text(limits.seconds) +
                " s; raise --timeout, or select fewer rows, for example those of one run_id");
  if (code == SQLITE_NOMEM && limits.memory_bytes > 0)
    throw Error("the statement needs more memory than its limit of " + format_bytes(limits.memory_bytes) +
                "; raise --memory, or select fewer rows, for example those of one run_id");
  if (code == SQLITE_TOOBIG && limits.value_bytes > kMaxReadBytes)
    throw Error("database " + quote(connection.file().string()) + ": a value is larger than " +
                format_bytes(limits.value_bytes) + ": the statement computes it, or the file is damaged");
  if (code != SQLITE_ERROR && code != SQLITE_RANGE && code != SQLITE_MISMATCH) connection.fail();
  const std::string message = sqlite3_errmsg(connection.handle());
  throw UsageError("invalid statement: " + one_line(message) + suggest_name(connection, message, sql));
}

struct Finalizer {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using OwnedStatement = std::unique_ptr<sqlite3_stmt, Finalizer>;

/// Prepares one statement under the authorizer; nullptr if the text contains none.
OwnedStatement prepare_one(const Connection& connection, const char*& rest, const char* end) {
  sqlite3_stmt* statement = nullptr;
  const char* const begin = rest;
  sqlite3_set_authorizer(connection.handle(), authorize, nullptr);
  const int code = sqlite3_prepare_v2(connection.handle(), rest, static_cast<int>(end - rest), &statement, &rest);
  sqlite3_set_authorizer(connection.handle(), nullptr, nullptr);
  if ((code & 0xff) == SQLITE_TOOBIG) throw UsageError("the statement is too long");
  if (code != SQLITE_OK) reject(connection, begin, {});
  return OwnedStatement(statement);
}

OwnedStatement prepare_query(const Connection& connection, const std::string& sql) {
  const char* rest = sql.c_str();
  const char* end = rest + sql.size();
  OwnedStatement statement = prepare_one(connection, rest, end);
  if (!statement) throw UsageError("the statement is empty; specify a SELECT");
  if (sqlite3_stmt_readonly(statement.get()) == 0)
    throw UsageError("the statement would write; only SELECT is allowed");
  while (rest != end) {
    const char* before = rest;
    if (prepare_one(connection, rest, end)) throw UsageError("more than one statement; specify a single SELECT");
    if (rest == before) break;
  }
  return statement;
}

void bind_named(sqlite3_stmt* statement, const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::vector<bool> bound(static_cast<std::size_t>(sqlite3_bind_parameter_count(statement)) + 1, false);
  for (const auto& [name, value] : parameters) {
    const int index = sqlite3_bind_parameter_index(statement, (":" + name).c_str());
    if (index == 0) continue;
    const std::string clean = valid_utf8(value);
    sqlite3_bind_text64(statement, index, clean.data(), clean.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    bound[static_cast<std::size_t>(index)] = true;
  }
  for (std::size_t i = 1; i < bound.size(); ++i) {
    if (bound[i]) continue;
    const char* name = sqlite3_bind_parameter_name(statement, static_cast<int>(i));
    throw UsageError("no value for parameter " + quote(name != nullptr ? name : "?") + " was given");
  }
}

std::string text_of(sqlite3_stmt* statement, int column) {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return bytes == nullptr ? std::string()
                          : valid_utf8({bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))});
}

std::string hexadecimal(sqlite3_stmt* statement, int column) {
  const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(statement, column));
  const int size = sqlite3_column_bytes(statement, column);
  std::string text = "x'";
  for (int i = 0; i < size; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text + "'";
}

ResultsDatabase::Cell cell_of(sqlite3_stmt* statement, int column) {
  using Cell = ResultsDatabase::Cell;
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return {Cell::Type::kInteger, sqlite3_column_int64(statement, column), 0, {}};
    case SQLITE_FLOAT:
      return {Cell::Type::kReal, 0, sqlite3_column_double(statement, column), {}};
    case SQLITE_TEXT:
      return {Cell::Type::kText, 0, 0, text_of(statement, column)};
    case SQLITE_BLOB:
      return {Cell::Type::kText, 0, 0, hexadecimal(statement, column)};
    default:
      return {};
  }
}

/// Selects the runs that pass the filter and that the view current_run would show if there were no other runs.
constexpr const char* kSelectRuns = R"(
  WITH _candidate AS (
    SELECT p.run_id, p.start_order, max(p.start_order) OVER (PARTITION BY p.plan_key) AS newest_of_plan,
           max(p.start_order) OVER (PARTITION BY p.settings_key) AS newest_of_settings
    FROM run_order p
    WHERE (?1 IS NULL OR p.label = ?1) AND (?2 IS NULL OR p.invocation_id = ?2) AND (?3 IS NULL OR p.suite = ?3))
  INSERT INTO temp.selected_run (run_id, title, title_in_case)
  SELECT c.run_id, t.title, t.title_in_case FROM _candidate c JOIN run_title t ON t.run_id = c.run_id
  WHERE c.start_order = c.newest_of_plan AND c.start_order = c.newest_of_settings
  ORDER BY c.run_id)";

/// Titles of a workload's runs omit the case if the other settings distinguish them.
constexpr const char* kOmitCases = R"(
  WITH _short AS (
    SELECT s.run_id, r.workload,
           CASE WHEN s.title LIKE 'case=%, %' THEN substr(s.title, instr(s.title, ', ') + 2) END AS title
    FROM temp.selected_run s JOIN run r ON r.run_id = s.run_id),
  _distinct AS (SELECT workload FROM _short GROUP BY workload HAVING count(DISTINCT title) = count(*))
  UPDATE temp.selected_run SET title = c.title
  FROM (SELECT x.run_id, x.title FROM _short x JOIN _distinct d ON d.workload = x.workload) c
  WHERE c.run_id = selected_run.run_id)";

void clear_selection(const Connection& results) {
  results.exec(
      "CREATE TEMP TABLE IF NOT EXISTS selected_run (run_id INTEGER PRIMARY KEY, title TEXT, title_in_case TEXT); "
      "DELETE FROM temp.selected_run");
}

std::int64_t complete_selection(const Connection& results) {
  // Tells the query planner that there are few runs, so that it starts with them instead of scanning every sample of
  // the database.
  results.exec("ANALYZE temp.selected_run");
  results.exec(kOmitCases);
  return results.integer("SELECT count(*) FROM temp.selected_run");
}

}  // namespace

std::set<std::string> words_in(const std::string& sql) {
  constexpr const char* kOfWords = "abcdefghijklmnopqrstuvwxyz0123456789_";
  std::string text = sql;
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::set<std::string> words;
  for (std::size_t begin = text.find_first_of(kOfWords); begin != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(kOfWords, begin), text.size());
    words.insert(text.substr(begin, end - begin));
    begin = text.find_first_of(kOfWords, end);
  }
  return words;
}

std::int64_t ResultsDatabase::select_runs(const Selection& selection) {
  const Connection& results = *impl_->connection;
  const Limited limited(results, impl_->limits);
  show_history();
  clear_selection(results);
  Statement(results, kSelectRuns).bind_all(selection.label, selection.invocation_id, selection.suite).run();
  return complete_selection(results);
}

std::int64_t ResultsDatabase::limit_selected_runs(std::int64_t most) {
  const Connection& results = *impl_->connection;
  const Limited limited(results, impl_->limits);
  Statement(results, R"(
    DELETE FROM temp.selected_run WHERE run_id NOT IN (
      SELECT run_id FROM (
        SELECT s.run_id, p.start_order,
               row_number() OVER (PARTITION BY r.suite_case, r.workload
                                  ORDER BY p.start_order DESC, s.run_id DESC) AS position
        FROM temp.selected_run s JOIN run r ON r.run_id = s.run_id JOIN run_order p ON p.run_id = s.run_id)
      ORDER BY position, start_order DESC, run_id DESC LIMIT ?1))")
      .bind_all(most)
      .run();
  const std::int64_t left_out = results.integer("SELECT changes()");
  if (left_out > 0) results.exec("ANALYZE temp.selected_run");
  return left_out;
}

std::int64_t ResultsDatabase::select_compared_runs(const ComparedRuns& runs) {
  const Connection& results = *impl_->connection;
  const Limited limited(results, impl_->limits);
  show_history();
  clear_selection(results);
  results.exec(
      "DROP TABLE IF EXISTS temp.compared_case; DROP TABLE IF EXISTS temp.compared_run; "
      "CREATE TEMP TABLE compared_case (case_id INTEGER PRIMARY KEY, title TEXT, before TEXT, after TEXT, "
      "before_runs INTEGER, after_runs INTEGER, before_ms REAL, after_ms REAL, ratio REAL, ratio_low REAL, "
      "ratio_high REAL, verdict TEXT, statistic TEXT, before_other_ms REAL, after_other_ms REAL, "
      "before_unlike_steps TEXT, after_unlike_steps TEXT); "
      "CREATE TEMP TABLE compared_run (run_id INTEGER, is_after INTEGER, case_id INTEGER, side TEXT, "
      "PRIMARY KEY (run_id, is_after))");
  Statement add_case(results,
                     "INSERT INTO temp.compared_case VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement add_run(results, "INSERT INTO temp.compared_run VALUES (?1, ?2, ?3, ?4)");
  std::int64_t id = 0;
  for (const ComparedCase& each : runs.cases) {
    add_case
        .bind_all(++id, each.title, runs.before, runs.after, std::ssize(each.before), std::ssize(each.after),
                  each.before_ms, each.after_ms, each.ratio, each.ratio_low, each.ratio_high, each.verdict,
                  each.statistic, each.before_other_ms, each.after_other_ms, each.before_unlike_steps,
                  each.after_unlike_steps)
        .run();
    for (const std::int64_t run : each.before) add_run.bind_all(run, 0, id, runs.before).run();
    for (const std::int64_t run : each.after) add_run.bind_all(run, 1, id, runs.after).run();
  }
  results.exec(
      "INSERT INTO temp.selected_run SELECT t.run_id, t.title, t.title_in_case FROM run_title t "
      "WHERE t.run_id IN (SELECT run_id FROM temp.compared_run)");
  results.exec("ANALYZE temp.compared_run");
  return complete_selection(results);
}

void ResultsDatabase::read(const std::string& sql, const std::vector<std::pair<std::string, std::string>>& parameters,
                           const ReadColumns& read_columns, const ReadRow& read_row) const {
  const Connection& connection = *impl_->connection;
  const OwnedStatement statement = prepare_query(connection, sql);
  bind_named(statement.get(), parameters);
  std::vector<std::string> columns(static_cast<std::size_t>(sqlite3_column_count(statement.get())));
  for (std::size_t i = 0; i < columns.size(); ++i)
    columns[i] = valid_utf8(sqlite3_column_name(statement.get(), static_cast<int>(i)));
  read_columns(columns);
  std::vector<Cell> row(columns.size());
  Limited limited(connection, impl_->limits);
  int code = limited.step(statement.get());
  for (; code == SQLITE_ROW; code = limited.step(statement.get())) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = cell_of(statement.get(), static_cast<int>(i));
    if (!read_row(row)) return;
  }
  if (code != SQLITE_DONE) reject(connection, sql, impl_->limits);
}

void ResultsDatabase::set_limits(const Limits& limits) {
  impl_->limits = limits;
  if (limits.value_bytes > 0) impl_->connection->limit_values(limits.value_bytes);
}

ResultsDatabase::Table ResultsDatabase::query(
    const std::string& sql, const std::vector<std::pair<std::string, std::string>>& parameters) const {
  Table table;
  read(
      sql, parameters, [&](const std::vector<std::string>& columns) { table.columns = columns; },
      [&](const std::vector<Cell>& row) {
        table.rows.push_back(row);
        return true;
      });
  return table;
}

}  // namespace kymo::store
