// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/row_capture.hpp"
#include "store/row_source.hpp"
#include "store/sqlite.hpp"
#include "store/table.hpp"

/// Copies rows between databases and translates their ids.
namespace kymo::store {

/// Returns every table with a column run_id except run itself: the data that belongs to runs.
std::vector<std::string> tables_of_runs(const Connection& connection);

/// Returns the columns of a table of the main database, in order.
std::vector<std::string> columns_of(const Connection& connection, const std::string& table);

/// Returns the columns that both databases have, in the target's order: an older file lacks columns added by later
/// migrations.
std::vector<std::string> common_columns(const Connection& source, const Connection& target, const std::string& table);

/// Maps ids of one database to ids of another.
class IdMap {
 public:
  void set(std::int64_t id, std::int64_t becomes);
  /// Returns nullptr if the id is unknown.
  const std::int64_t* find(std::int64_t id) const;

 private:
  static constexpr std::int64_t kDense = 1 << 20;  // ids are small except in malicious files
  std::vector<std::optional<std::int64_t>> dense_;
  std::unordered_map<std::int64_t, std::int64_t> others_;
};

/// A column of ids to translate; columns count from 0.
struct Translation {
  int column = 0;
  const IdMap* ids = nullptr;
};

/// Adds a translation for each column of a declared table that refers to table string.
void translate_texts(const Table& table, const std::vector<std::string>& columns, const IdMap& texts,
                     std::vector<Translation>& translations);

/// Destination of copied rows: the columns of a target table in selection order, after the fixed ones.
struct CopyTarget {
  const Connection& connection;
  std::string table;
  std::vector<std::string> columns;
  std::vector<FixedColumn> fixed = {};
  Conflict conflict = Conflict::kKeepOld;
};

/// Copies every row of `select` (with bound parameters). An id without translation becomes NULL; if the column is
/// required, the row is skipped. Returns the number of affected rows.
std::int64_t copy_rows(Statement& select, const CopyTarget& to, const std::vector<Translation>& translations);
/// The same for a statement of RowCapture::select_sql(), for large tables.
std::int64_t copy_rows(Statement& select, RowCapture& capture, const CopyTarget& to,
                       const std::vector<Translation>& translations);

/// Returns "SELECT a, b FROM main.table".
std::string select_sql(const std::string& table, const std::vector<std::string>& columns);

/// Returns the index of a name in a list, or -1.
int position_of(const std::vector<std::string>& names, const std::string& name);

}  // namespace kymo::store
