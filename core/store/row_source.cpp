// SPDX-License-Identifier: Apache-2.0
#include "store/row_source.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "store/copy_rows.hpp"

namespace kymo::store {
namespace {

constexpr const char* kTable = "kymo_incoming_rows";

/// A source while a statement reads it. Exceptions must not propagate through SQLite: the rows end, and the exception
/// is stored here.
struct Feed {
  RowSource& source;
  std::size_t columns;
  std::exception_ptr failure;
};

struct FeedTable {
  sqlite3_vtab base;
  Feed* feed;
};

struct FeedCursor {
  sqlite3_vtab_cursor base;
  Feed* feed;
  RowSource* source;
  bool at_end;
};

int connect(sqlite3* database, void* feed, int, const char* const*, sqlite3_vtab** table, char**) {
  std::string declaration = "CREATE TABLE x(";
  for (std::size_t i = 0; i < static_cast<Feed*>(feed)->columns; ++i)
    declaration += (i > 0 ? ", c" : "c") + std::to_string(i);
  const int code = sqlite3_declare_vtab(database, (declaration + ")").c_str());
  if (code != SQLITE_OK) return code;
  auto* created = new (std::nothrow) FeedTable{{}, static_cast<Feed*>(feed)};
  if (created == nullptr) return SQLITE_NOMEM;
  *table = &created->base;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<FeedTable*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; }

int open_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  auto* created = new (std::nothrow) FeedCursor{{}, reinterpret_cast<FeedTable*>(table)->feed, nullptr, false};
  if (created == nullptr) return SQLITE_NOMEM;
  created->source = &created->feed->source;
  *cursor = &created->base;
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete reinterpret_cast<FeedCursor*>(cursor);
  return SQLITE_OK;
}

int next_row(sqlite3_vtab_cursor* base) {
  auto* cursor = reinterpret_cast<FeedCursor*>(base);
  try {
    cursor->at_end = !cursor->source->next();
  } catch (...) {
    cursor->feed->failure = std::current_exception();
    cursor->at_end = true;
  }
  return SQLITE_OK;
}

int first_row(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) { return next_row(cursor); }

int is_at_end(sqlite3_vtab_cursor* cursor) { return reinterpret_cast<FeedCursor*>(cursor)->at_end ? 1 : 0; }

int column_value(sqlite3_vtab_cursor* cursor, sqlite3_context* result, int column) {
  try {
    reinterpret_cast<FeedCursor*>(cursor)->source->put(column, result);
  } catch (...) {
    sqlite3_result_error_nomem(result);  // only copying a string that had to be cleaned can fail here
  }
  return SQLITE_OK;
}

int row_number(sqlite3_vtab_cursor*, sqlite3_int64* number) {
  *number = 0;
  return SQLITE_OK;
}

sqlite3_module feed_module() {
  sqlite3_module module{};
  module.xConnect = connect;
  module.xDisconnect = disconnect;
  module.xBestIndex = best_index;
  module.xOpen = open_cursor;
  module.xClose = close_cursor;
  module.xFilter = first_row;
  module.xNext = next_row;
  module.xEof = is_at_end;
  module.xColumn = column_value;
  module.xRowid = row_number;
  return module;
}

/// Registers the virtual table with a connection during its lifetime, visible to no other statement.
class Registration {
 public:
  Registration(const Connection& connection, Feed& feed) : connection_(connection) {
    static const sqlite3_module module = feed_module();
    if (sqlite3_create_module_v2(connection.handle(), kTable, &module, &feed, nullptr) != SQLITE_OK) connection.fail();
  }
  ~Registration() { sqlite3_create_module_v2(connection_.handle(), kTable, nullptr, nullptr, nullptr); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  const Connection& connection_;
};

/// Returns a value as an SQL literal. SQLite copies a bound parameter for each row, which would dominate the cost.
std::string literal(const FixedColumn& column) {
  if (const auto* number = std::get_if<std::int64_t>(&column.value)) return std::to_string(*number);
  const auto* text = std::get_if<std::string>(&column.value);
  return text == nullptr ? "NULL" : "'" + join(split(valid_utf8(*text), '\''), "''") + "'";
}

/// Uses the column order of the table; for any other order SQLite moves every value once more.
std::string sql_for(const Connection& connection, const std::string& table, const std::vector<FixedColumn>& fixed,
                    const std::vector<std::string>& columns, Conflict conflict) {
  std::vector<std::string> names;
  std::vector<std::string> values;
  for (const std::string& name : columns_of(connection, table)) {
    const auto constant =
        std::find_if(fixed.begin(), fixed.end(), [&](const FixedColumn& each) { return each.name == name; });
    const int position = position_of(columns, name);
    if (constant == fixed.end() && position < 0) continue;
    names.push_back(name);
    values.push_back(constant == fixed.end() ? "c" + std::to_string(position) : literal(*constant));
  }
  return std::string(conflict == Conflict::kReplace ? "INSERT OR REPLACE" : "INSERT OR IGNORE") + " INTO main." +
         table + " (" + join(names, ", ") + ") SELECT " + join(values, ", ") + " FROM " + kTable;
}

}  // namespace

void put(sqlite3_context* result, std::string_view text) {
  if (is_ascii_without_nul(text)) {
    sqlite3_result_text64(result, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    return;
  }
  const std::string clean = valid_utf8(text);
  sqlite3_result_text64(result, clean.data(), clean.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

std::int64_t insert_rows(const Connection& connection, const std::string& table, const std::vector<FixedColumn>& fixed,
                         const std::vector<std::string>& columns, RowSource& source, Conflict conflict) {
  Feed feed{source, columns.size(), nullptr};
  const Registration registration(connection, feed);
  Statement(connection, sql_for(connection, table, fixed, columns, conflict)).run();
  if (feed.failure) std::rethrow_exception(feed.failure);
  return connection.changes();
}

}  // namespace kymo::store
