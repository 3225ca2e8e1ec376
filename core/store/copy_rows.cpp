// SPDX-License-Identifier: Apache-2.0
#include "store/copy_rows.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace kymo::store {

std::vector<std::string> tables_of_runs(const Connection& connection) {
  std::vector<std::string> names;
  Statement tables(connection,
                   "SELECT m.name FROM main.sqlite_master m WHERE m.type = 'table' AND m.name <> 'run' "
                   "AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) c WHERE c.name = 'run_id') ORDER BY m.name");
  while (tables.step()) names.push_back(tables.text(0));
  return names;
}

namespace {

struct TableColumn {
  std::string name;
  bool required = false;  ///< never NULL
};

/// Runs the pragma itself: as a table in a query, it would take several times as long to prepare.
std::vector<TableColumn> describe_columns(const Connection& connection, const std::string& table) {
  std::vector<TableColumn> columns;
  Statement rows(connection, "PRAGMA main.table_info(" + identifier(table) + ")");
  while (rows.step()) columns.push_back({rows.text(1), rows.integer(3) != 0 || rows.integer(5) > 0});
  return columns;
}

}  // namespace

std::vector<std::string> columns_of(const Connection& connection, const std::string& table) {
  std::vector<std::string> names;
  for (TableColumn& column : describe_columns(connection, table)) names.push_back(std::move(column.name));
  return names;
}

std::vector<std::string> common_columns(const Connection& source, const Connection& target, const std::string& table) {
  const std::vector<std::string> there = columns_of(source, table);
  std::vector<std::string> names;
  for (const std::string& name : columns_of(target, table)) {
    if (position_of(there, name) >= 0) names.push_back(name);
  }
  return names;
}

void IdMap::set(std::int64_t id, std::int64_t becomes) {
  if (id < 0 || id >= kDense) {
    others_[id] = becomes;
    return;
  }
  const auto at = static_cast<std::size_t>(id);
  if (at >= dense_.size()) dense_.resize(std::max(at + 1, 2 * dense_.size()));
  dense_[at] = becomes;
}

const std::int64_t* IdMap::find(std::int64_t id) const {
  if (id >= 0 && id < kDense) {
    const auto at = static_cast<std::size_t>(id);
    return at < dense_.size() && dense_[at] ? &*dense_[at] : nullptr;
  }
  const auto found = others_.find(id);
  return found == others_.end() ? nullptr : &found->second;
}

void translate_texts(const Table& table, const std::vector<std::string>& columns, const IdMap& texts,
                     std::vector<Translation>& translations) {
  for (const std::string& column : columns) {
    if (table.refers_to_string(column)) translations.push_back({position_of(columns, column), &texts});
  }
}

namespace {

/// The rows of a statement on another database, with translated ids.
class StatementRows final : public RowSource {
 public:
  /// With `capture`, the statement must come from RowCapture::select_sql().
  StatementRows(Statement& select, RowCapture* capture, const CopyTarget& to,
                const std::vector<Translation>& translations)
      : statement_(select),
        capture_(capture),
        cells_(capture != nullptr ? capture->cells() : own_),
        columns_(to.columns.size()) {
    if (capture_ != nullptr) capture_->begin();
    if (translations.empty()) return;
    const std::vector<TableColumn> described = describe_columns(to.connection, to.table);
    for (const Translation& translation : translations) {
      if (translation.column < 0) continue;
      const auto column = static_cast<std::size_t>(translation.column);
      const auto found = std::ranges::find(described, to.columns[column], &TableColumn::name);
      translated_.push_back({column, translation.ids, found != described.end() && found->required});
    }
  }

  bool next() override {
    while (read()) {
      if (translate()) return true;
    }
    return false;
  }

  void put(int column, sqlite3_context* result) override {
    cells_.put(first_ + static_cast<std::size_t>(column), result);
  }

  std::int64_t unknown() const { return unknown_; }

 private:
  struct Translated {
    std::size_t column;
    const IdMap* ids;
    bool required;
  };

  bool read() {
    if (capture_ != nullptr) {
      const bool there = capture_->next(statement_);
      first_ = capture_->first();
      return there;
    }
    if (!statement_.step()) return false;
    own_.clear();
    for (int i = 0; i < static_cast<int>(columns_); ++i) own_.add(sqlite3_column_value(statement_.handle(), i));
    return true;
  }

  /// Returns false if the row cannot be stored.
  bool translate() {
    bool all_known = true;
    bool fits = true;
    for (const Translated& each : translated_) {
      const std::size_t at = first_ + each.column;
      const std::int64_t* id = cells_.integer(at);
      const std::int64_t* becomes = id != nullptr ? each.ids->find(*id) : nullptr;
      if (becomes == nullptr) {
        all_known = all_known && cells_.is_null(at);
        fits = fits && !each.required;
      }
      cells_.set(at, becomes);
    }
    if (!all_known || !fits) ++unknown_;
    return fits;
  }

  Statement& statement_;
  RowCapture* capture_;
  Cells own_;
  Cells& cells_;
  std::size_t columns_;
  std::size_t first_ = 0;  // first cell of the row
  std::vector<Translated> translated_;
  std::int64_t unknown_ = 0;
};

std::int64_t copy_rows(Statement& select, RowCapture* capture, const CopyTarget& to,
                       const std::vector<Translation>& translations) {
  StatementRows rows(select, capture, to, translations);
  insert_rows(to.connection, to.table, to.fixed, to.columns, rows, to.conflict);
  return rows.unknown();
}

}  // namespace

std::int64_t copy_rows(Statement& select, const CopyTarget& to, const std::vector<Translation>& translations) {
  return copy_rows(select, nullptr, to, translations);
}

std::int64_t copy_rows(Statement& select, RowCapture& capture, const CopyTarget& to,
                       const std::vector<Translation>& translations) {
  return copy_rows(select, &capture, to, translations);
}

std::string select_sql(const std::string& table, const std::vector<std::string>& columns) {
  return "SELECT " + join(columns, ", ") + " FROM main." + table;
}

int position_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

}  // namespace kymo::store
