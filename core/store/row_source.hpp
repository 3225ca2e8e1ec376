// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "store/sqlite.hpp"

/// Inserts rows from outside of a database with a single statement, because binding and running a statement per row
/// costs more than the row itself.
namespace kymo::store {

/// A sequence of rows for insert_rows().
class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;
  /// Advances to the next row, initially to the first. Returns false after the last row. May throw.
  virtual bool next() = 0;
  /// Passes a value of the current row to SQLite with the put functions below. Columns count from 0.
  virtual void put(int column, sqlite3_context* result) = 0;
};

inline void put_null(sqlite3_context* result) { sqlite3_result_null(result); }
inline void put(sqlite3_context* result, std::int64_t value) { sqlite3_result_int64(result, value); }
inline void put(sqlite3_context* result, double value) { sqlite3_result_double(result, value); }
/// Cleans the string like all strings. It is not copied and must stay valid until the next row is requested.
void put(sqlite3_context* result, std::string_view text);

/// A column with the same value in every row.
struct FixedColumn {
  std::string name;
  std::variant<std::nullptr_t, std::int64_t, std::string> value;
};

/// Behavior for a row whose key already exists.
enum class Conflict { kKeepOld, kReplace };

/// Inserts every row of `source`, which provides `columns`, together with the fixed columns into main.`table`. Rows
/// that violate a constraint of the table are skipped. Returns the number of inserted rows. If the source throws, the
/// preceding rows are inserted and the exception propagates.
std::int64_t insert_rows(const Connection& connection, const std::string& table, const std::vector<FixedColumn>& fixed,
                         const std::vector<std::string>& columns, RowSource& source,
                         Conflict conflict = Conflict::kKeepOld);

}  // namespace kymo::store
