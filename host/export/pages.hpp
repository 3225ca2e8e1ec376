// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export/target.hpp"
#include "store/results.hpp"

namespace kymo::exports {

/// One row of an event table. Columns are numbered from 0 in the order of the query.
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

/// Number of rows that an export reads with one query.
constexpr std::size_t kRowsOfPage = 20'000;

/// Rows of an event table of one target, ordered by a sequence column and read page by page, because a table may not
/// fit in memory.
class Pages {
 public:
  /// `columns` is a comma-separated list; `order` is the column that follows run_id, rank and pass in the primary key,
  /// unique within the target.
  Pages(const store::ResultsDatabase& database, const Target& target, const std::string& table,
        const std::string& columns, const std::string& order = "sequence");
  /// The next row, valid until the next call; nullopt at the end.
  std::optional<Row> next();

 private:
  const store::ResultsDatabase& database_;
  Target target_;
  std::string sql_;
  store::ResultsDatabase::Table page_;
  std::size_t position_ = 0;
  std::int64_t last_ = 0;
  bool at_end_ = false;
};

/// Texts that events refer to by id; each is read once.
class TextsById {
 public:
  explicit TextsById(const store::ResultsDatabase& database) : database_(database) {}
  /// Empty for an unknown id.
  const std::string& text(std::int64_t id);

 private:
  const store::ResultsDatabase& database_;
  std::unordered_map<std::int64_t, std::string> texts_;
};

}  // namespace kymo::exports
