// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "store/sqlite.hpp"

namespace kymo::store {

/// Inserts rows into one table, many per statement, because a statement per row costs more than the row itself. A row
/// whose key already exists is dropped and counted.
class RowInserter {
 public:
  RowInserter(const Connection& connection, std::string table, std::vector<std::string> columns);

  /// Takes as many values as there are columns. NaN becomes NULL.
  template <typename... Values>
  void add(const Values&... values) {
    (values_.push_back(to_value(values)), ...);
    if (values_.size() >= kRowsPerStatement * columns_.size()) flush();
  }
  /// Writes buffered rows. Returns the number of rows dropped in total.
  std::int64_t finish();

 private:
  using Value = std::variant<std::nullptr_t, std::int64_t, double, std::string>;
  static constexpr std::size_t kRowsPerStatement = 50;

  static Value to_value(std::nullptr_t) { return nullptr; }
  static Value to_value(std::int64_t value) { return value; }
  static Value to_value(int value) { return static_cast<std::int64_t>(value); }
  static Value to_value(bool value) { return static_cast<std::int64_t>(value); }
  static Value to_value(double value) { return value; }
  static Value to_value(const std::string& value) { return value; }
  static Value to_value(const char* value) { return std::string(value); }
  template <typename T>
  static Value to_value(const std::optional<T>& value) {
    return value ? to_value(*value) : Value(nullptr);
  }

  void flush();
  std::string sql_for(std::size_t rows) const;

  const Connection& connection_;
  std::string table_;
  std::vector<std::string> columns_;
  std::vector<Value> values_;
  std::unique_ptr<Statement> full_;
  std::int64_t dropped_ = 0;
};

}  // namespace kymo::store
