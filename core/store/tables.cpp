// SPDX-License-Identifier: Apache-2.0
#include "store/tables.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace kymo::store {

const std::vector<ObservedTable>& observed_tables() {
  static const std::vector<ObservedTable> tables{{"sample", true},
                                                 {"metric", true},
                                                 {"work", false},
                                                 {"verification", false},
                                                 {"gpu_sample", true},
                                                 {"memory_counter", true},
                                                 {"mark", true},
                                                 {"out_of_memory", true},
                                                 {"loss", true},
                                                 {"clock_sync", true},
                                                 {"kernel_total", true},
                                                 {"op_total", true},
                                                 {"step_activity", true},
                                                 {"kernel_outlier", true},
                                                 {"memory_phase", true},
                                                 {"range", true, Extent::kStep},
                                                 {"launch_shape", true, Extent::kShape},
                                                 {"kernel", true, Extent::kStep},
                                                 {"memcpy", true, Extent::kStep},
                                                 {"memset", true, Extent::kStep},
                                                 {"api_call", true, Extent::kTime},
                                                 {"synchronization", true, Extent::kTime},
                                                 {"tracing_pause", true, Extent::kTime},
                                                 {"op", true, Extent::kStep},
                                                 {"allocation", true, Extent::kLife},
                                                 {"segment", true, Extent::kLife},
                                                 {"memory_point", true, Extent::kStep},
                                                 {"device_memory", true, Extent::kMoment},
                                                 {"stack", true, Extent::kStack},
                                                 {"stack_frame", true, Extent::kFrame}};
  return tables;
}

const std::vector<std::string>& text_tables() {
  static const std::vector<std::string> tables{"kernel_class", "scope_path"};
  return tables;
}

bool refers_to_text(const std::string& column) {
  static constexpr std::array<std::string_view, 7> kColumns{"name_id", "phase_id",  "scope_id",   "free_phase_id",
                                                            "op_id",   "shapes_id", "function_id"};
  return std::find(kColumns.begin(), kColumns.end(), column) != kColumns.end();
}

std::vector<std::string> tables_of_runs(const Connection& connection) {
  std::vector<std::string> names;
  Statement tables(connection,
                   "SELECT m.name FROM main.sqlite_master m WHERE m.type = 'table' AND m.name <> 'run' "
                   "AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) c WHERE c.name = 'run_id') ORDER BY m.name");
  while (tables.step()) names.push_back(tables.text(0));
  return names;
}

namespace {

std::vector<std::string> names_of(const Connection& connection, const std::string& table, const char* which) {
  std::vector<std::string> names;
  Statement columns(connection, std::string("SELECT name FROM pragma_table_info(?, 'main') WHERE ") + which + " ORDER BY cid");
  columns.bind(1, table);
  while (columns.step()) names.push_back(columns.text(0));
  return names;
}

}  // namespace

std::vector<std::string> columns_of(const Connection& connection, const std::string& table) { return names_of(connection, table, "true"); }

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

void translate_texts(const std::vector<std::string>& columns, const IdMap& texts, std::vector<Translation>& translations) {
  for (const std::string& column : columns) {
    if (refers_to_text(column)) translations.push_back({position_of(columns, column), &texts});
  }
}

namespace {

/// The rows of a statement of another database, with identifiers translated.
class StatementRows final : public RowSource {
 public:
  StatementRows(Statement& select, const CopyTarget& to, const std::vector<Translation>& translations)
      : select_(select.handle()), statement_(select), slots_(to.columns.size(), -1) {
    const auto required = names_of(to.connection, to.table, "\"notnull\" <> 0 OR pk > 0");
    for (const Translation& translation : translations) {
      if (translation.column < 0) continue;
      const auto column = static_cast<std::size_t>(translation.column);
      slots_[column] = static_cast<int>(translated_.size());
      translated_.push_back({translation, position_of(required, to.columns[column]) >= 0, nullptr});
    }
  }

  bool next() override {
    while (statement_.step()) {
      if (translate()) return true;
    }
    return false;
  }

  void put(int column, sqlite3_context* result) override {
    const int slot = slots_[static_cast<std::size_t>(column)];
    if (slot >= 0) {
      const std::int64_t* id = translated_[static_cast<std::size_t>(slot)].becomes;
      return id == nullptr ? put_null(result) : store::put(result, *id);
    }
    sqlite3_value* value = sqlite3_column_value(select_, column);
    switch (sqlite3_value_type(value)) {
      case SQLITE_INTEGER:
        return store::put(result, static_cast<std::int64_t>(sqlite3_value_int64(value)));
      case SQLITE_TEXT: {
        // Cleaned: whoever wrote the file need not have.
        const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
        return store::put(result, std::string_view(text, static_cast<std::size_t>(sqlite3_value_bytes(value))));
      }
      default:
        return sqlite3_result_value(result, value);
    }
  }

  std::int64_t unknown() const { return unknown_; }

 private:
  struct Translated {
    Translation how;
    bool required;
    const std::int64_t* becomes;
  };

  /// False if the row cannot be stored.
  bool translate() {
    bool all_known = true;
    bool fits = true;
    for (Translated& each : translated_) {
      sqlite3_value* id = sqlite3_column_value(select_, each.how.column);
      const bool is_null = sqlite3_value_type(id) == SQLITE_NULL;
      each.becomes = is_null ? nullptr : each.how.ids->find(sqlite3_value_int64(id));
      if (each.becomes != nullptr) continue;
      all_known = all_known && is_null;
      fits = fits && !each.required;
    }
    if (!all_known || !fits) ++unknown_;
    return fits;
  }

  sqlite3_stmt* select_;
  Statement& statement_;
  std::vector<int> slots_;  // by column: place in translated_, or -1
  std::vector<Translated> translated_;
  std::int64_t unknown_ = 0;
};

}  // namespace

std::int64_t copy_rows(Statement& select, const CopyTarget& to, const std::vector<Translation>& translations) {
  StatementRows rows(select, to, translations);
  insert_rows(to.connection, to.table, to.fixed, to.columns, rows, to.conflict);
  return rows.unknown();
}

std::string select_sql(const std::string& table, const std::vector<std::string>& columns) {
  return "SELECT " + join(columns, ", ") + " FROM main." + table;
}

int position_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

}  // namespace kymo::store
