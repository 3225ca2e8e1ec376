// SPDX-License-Identifier: Apache-2.0
#include "store/tables.hpp"

#include <sqlite3.h>

#include <algorithm>

#include "base/text.hpp"

namespace kymo::store {

const std::vector<ObservedTable>& observed_tables() {
  static const std::vector<ObservedTable> tables{{"sample", true},        {"metric", true},        {"work", false},
                                                 {"verification", false}, {"gpu_sample", true},    {"memory_counter", true},
                                                 {"mark", true},          {"out_of_memory", true}, {"loss", true}};
  return tables;
}

std::vector<std::string> tables_of_runs(const Connection& connection) {
  std::vector<std::string> names;
  Statement tables(connection,
                   "SELECT m.name FROM main.sqlite_master m WHERE m.type = 'table' AND m.name <> 'run' "
                   "AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) c WHERE c.name = 'run_id') ORDER BY m.name");
  while (tables.step()) names.push_back(tables.text(0));
  return names;
}

std::vector<std::string> columns_of(const Connection& connection, const std::string& table) {
  std::vector<std::string> names;
  Statement columns(connection, "SELECT name FROM pragma_table_info(?, 'main') ORDER BY cid");
  columns.bind(1, table);
  while (columns.step()) names.push_back(columns.text(0));
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

namespace {

void translate(Statement& select, Statement& insert, const Translation& translation) {
  if (select.is_null(translation.column)) return;
  const auto found = translation.ids->find(select.integer(translation.column));
  if (found == translation.ids->end()) {
    insert.bind(translation.column + 1, nullptr);
  } else {
    insert.bind(translation.column + 1, found->second);
  }
}

}  // namespace

void copy_rows(Statement& select, Statement& insert, const std::vector<Translation>& translations) {
  const int columns = select.column_count();
  while (select.step()) {
    for (int i = 0; i < columns; ++i) {
      if (sqlite3_column_type(select.handle(), i) == SQLITE_TEXT) {
        insert.bind(i + 1, select.text(i));  // cleaned: whoever wrote the file need not have
      } else {
        sqlite3_bind_value(insert.handle(), i + 1, sqlite3_column_value(select.handle(), i));
      }
    }
    for (const Translation& translation : translations) translate(select, insert, translation);
    insert.run();
  }
}

std::string insert_sql(const std::string& table, const std::vector<std::string>& columns) {
  const std::vector<std::string> marks(columns.size(), "?");
  return "INSERT OR IGNORE INTO main." + table + " (" + join(columns, ", ") + ") VALUES (" + join(marks, ", ") + ")";
}

std::string select_sql(const std::string& table, const std::vector<std::string>& columns) {
  return "SELECT " + join(columns, ", ") + " FROM main." + table;
}

int position_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

}  // namespace kymo::store
