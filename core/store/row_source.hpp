// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "store/sqlite.hpp"

/// Rows from outside of a database, inserted by one statement: binding and running a statement per row costs more than
/// the row itself.
namespace kymo::store {

/// Rows that insert_rows() takes one after the other.
class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;
  /// Goes to the next row, at first to the first; false after the last. May throw.
  virtual bool next() = 0;
  /// Hands over a value of the row, by the put functions below. Columns count from 0.
  virtual void put(int column, sqlite3_context* result) = 0;
};

inline void put_null(sqlite3_context* result) { sqlite3_result_null(result); }
inline void put(sqlite3_context* result, std::int64_t value) { sqlite3_result_int64(result, value); }
inline void put(sqlite3_context* result, double value) { sqlite3_result_double(result, value); }
/// Cleaned like all text. It is not copied: it must stay as it is until the next row is asked for.
void put(sqlite3_context* result, std::string_view text);

/// A column that has the same value in every row.
struct FixedColumn {
  std::string name;
  std::variant<std::nullptr_t, std::int64_t, std::string> value;
};

/// What becomes of a row whose key is there already.
enum class Conflict { kKeepOld, kReplace };

/// Inserts every row of `source`, whose columns are `columns`, and in each the fixed columns, into main.`table`. Rows
/// that the table does not admit are left out. Returns how many were stored. What the source throws comes out after the
/// rows before it were stored.
std::int64_t insert_rows(const Connection& connection, const std::string& table, const std::vector<FixedColumn>& fixed,
                         const std::vector<std::string>& columns, RowSource& source,
                         Conflict conflict = Conflict::kKeepOld);

}  // namespace kymo::store
