// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/row_source.hpp"

namespace kymo::store {

/// Compact copies of a statement's values, so that rows are processed while they are still in the CPU cache.
class Cells {
 public:
  void clear();
  void add(sqlite3_value* value);
  /// Integers and NULL, the most frequent values, are identified by the type alone.
  bool is_null(std::size_t at) const { return cells_[at].type == SQLITE_NULL; }
  /// Returns the integer, or nullptr if the value is not an integer.
  const std::int64_t* integer(std::size_t at) const {
    return cells_[at].type == SQLITE_INTEGER ? &cells_[at].integer : nullptr;
  }
  /// Replaces a value by an integer, or by NULL for nullptr.
  void set(std::size_t at, const std::int64_t* value) {
    cells_[at].type = value == nullptr ? SQLITE_NULL : SQLITE_INTEGER;
    if (value != nullptr) cells_[at].integer = *value;
  }
  /// Strings are cleaned, because another program may have written them. The cells must not change until the next row
  /// is requested.
  void put(std::size_t at, sqlite3_context* result) const {
    if (const std::int64_t* number = integer(at)) return store::put(result, *number);
    if (is_null(at)) return put_null(result);
    put_other(cells_[at], result);
  }

 private:
  struct Cell {
    union {
      std::int64_t integer;
      double real;
      std::size_t begin;  // offset of a string or blob in bytes_
    };
    std::uint32_t size;
    int type;
  };

  void put_other(const Cell& cell, sqlite3_context* result) const;

  std::vector<Cell> cells_;
  std::string bytes_;
};

/// Reads the rows of a table in batches. A function in the statement captures the values and interrupts the statement
/// only when a batch is full, which is faster than stepping through rows and requesting each column.
class RowCapture {
 public:
  /// `source` must outlive the capture, and the capture must outlive every statement that uses it.
  explicit RowCapture(const Connection& source);
  ~RowCapture();
  RowCapture(const RowCapture&) = delete;
  RowCapture& operator=(const RowCapture&) = delete;

  /// Returns a statement for next() over the rows of main.`table` that satisfy a condition, or over all rows if it is
  /// empty.
  static std::string select_sql(const std::string& table, const std::vector<std::string>& columns,
                                const std::string& condition);
  /// Call it before the first row of a statement.
  void begin();
  /// Advances to the next row. Returns false after the last row.
  bool next(Statement& select);
  /// The values of the current row are those from first() on, in column order.
  Cells& cells() { return cells_; }
  std::size_t first() const { return at_ * columns_; }

 private:
  static void take(sqlite3_context* context, int count, sqlite3_value** values);

  const Connection& source_;
  Cells cells_;  // in row order
  std::size_t columns_ = 0;
  std::size_t rows_ = 0;  // number of rows in the batch
  std::size_t at_ = 0;
  bool at_end_ = false;
};

}  // namespace kymo::store
