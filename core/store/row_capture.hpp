// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/row_source.hpp"

namespace kymo::store {

/// Values copied out of a statement, in few bytes: rows are handed on while they are still in the nearest cache.
class Cells {
 public:
  void clear();
  void add(sqlite3_value* value);
  /// Integers and NULL are told apart without looking further: they are what most columns hold.
  bool is_null(std::size_t at) const { return cells_[at].type == SQLITE_NULL; }
  /// The integer, or null if the value is none.
  const std::int64_t* integer(std::size_t at) const {
    return cells_[at].type == SQLITE_INTEGER ? &cells_[at].integer : nullptr;
  }
  /// Texts are cleaned: whoever wrote them need not have. The cells must stay as they are until the next row is asked
  /// for.
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
      std::size_t begin;  // of a text or a blob in bytes_
    };
    std::uint32_t size;
    int type;
  };

  void put_other(const Cell& cell, sqlite3_context* result) const;

  std::vector<Cell> cells_;
  std::string bytes_;
};

/// Reads the rows of a table in batches: a function that the statement calls takes their values, and lets it stop only
/// when a batch is full. To go from row to row and ask for each column takes longer than reading them.
class RowCapture {
 public:
  /// `source` must outlive the capture, and the capture every statement that uses it.
  explicit RowCapture(const Connection& source);
  ~RowCapture();
  RowCapture(const RowCapture&) = delete;
  RowCapture& operator=(const RowCapture&) = delete;

  /// A statement for next() over the rows of main.`table` that fulfil a condition, or over all if it is empty.
  static std::string select_sql(const std::string& table, const std::vector<std::string>& columns,
                                const std::string& condition);
  /// To be called before the first row of a statement.
  void begin();
  /// Goes to the next row; false after the last.
  bool next(Statement& select);
  /// The values of the row are those from first() on, in the order of the columns.
  const Cells& cells() const { return cells_; }
  std::size_t first() const { return at_ * columns_; }

 private:
  static void take(sqlite3_context* context, int count, sqlite3_value** values);

  const Connection& source_;
  Cells cells_;  // row by row
  std::size_t columns_ = 0;
  std::size_t rows_ = 0;  // of the batch
  std::size_t at_ = 0;
  bool at_end_ = false;
};

}  // namespace kymo::store
