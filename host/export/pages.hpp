// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export/target.hpp"
#include "store/results.hpp"

namespace kymo::exports {

/// One row of an event table. Columns count from 0; which they are is up to whoever asked for them.
class Row {
 public:
  explicit Row(const std::vector<store::ResultsDatabase::Cell>& cells) : cells_(&cells) {}
  bool has(std::size_t column) const { return (*cells_)[column].type != store::ResultsDatabase::Cell::Type::kNull; }
  std::int64_t integer(std::size_t column) const { return (*cells_)[column].integer; }  ///< 0 for NULL
  const std::string& text(std::size_t column) const { return (*cells_)[column].text; }
  const std::vector<store::ResultsDatabase::Cell>& cells() const { return *cells_; }
  std::optional<std::int64_t> optional(std::size_t column) const {
    return has(column) ? std::optional(integer(column)) : std::nullopt;
  }

 private:
  const std::vector<store::ResultsDatabase::Cell>* cells_;
};

/// Rows of an event table of one target in the order of a numbering column, read page by page: a table may be larger
/// than memory.
class Pages {
 public:
  /// `columns` by commas; `order` is the column of the primary key behind run_id, rank and pass, unique within the
  /// target.
  Pages(const store::ResultsDatabase& database, const Target& target, const std::string& table,
        const std::string& columns, const std::string& order = "sequence");
  /// The next row, valid until the call after; nothing at the end.
  std::optional<Row> next();

 private:
  const store::ResultsDatabase& database_;
  Target target_;
  std::string sql_;
  store::ResultsDatabase::Table page_;
  std::size_t place_ = 0;
  std::int64_t last_ = 0;
  bool at_end_ = false;
};

/// The texts that events refer to by number; each is read once.
class TextsById {
 public:
  explicit TextsById(const store::ResultsDatabase& database) : database_(database) {}
  /// Empty for a number that is not there.
  const std::string& text(std::int64_t id);

 private:
  const store::ResultsDatabase& database_;
  std::unordered_map<std::int64_t, std::string> texts_;
};

}  // namespace kymo::exports
