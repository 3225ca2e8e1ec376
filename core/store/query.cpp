// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <optional>
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

}  // namespace

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
