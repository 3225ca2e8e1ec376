// SPDX-License-Identifier: Apache-2.0
#include "store/table.hpp"

namespace kymo::store {

bool Table::refers_to_string(const std::string& column) const {
  return std::any_of(columns_.begin(), columns_.end(),
                     [&](const ColumnName& each) { return each.refers_to_string && each.name == column; });
}

std::int64_t Table::insert(const RankTarget& to, const std::vector<std::string>& columns,
                           const std::vector<std::string>& constant_null, RowSource& rows) const {
  std::vector<FixedColumn> fixed;
  if (owner_ != RowOwner::kString) fixed = {{"run_id", to.run_id}, {"rank", std::int64_t{to.rank}}};
  if (owner_ == RowOwner::kPass) fixed.push_back({"pass", to.pass});
  for (const std::string& name : constant_null) fixed.push_back({name, nullptr});
  return insert_rows(to.connection, name_, fixed, columns, rows);
}

void Table::add_dropped(RankTarget& to, std::int64_t rows) const {
  // Cleaning can make two strings equal, which then have one row.
  if (rows == 0 || owner_ == RowOwner::kString) return;
  to.dropped.push_back({"store", rows, "rows of " + name_ + " with a duplicate key"});
}

const Tables& observed_tables() {
  static const Tables tables = [] {
    Tables all;
    add_measurement_tables(all);
    add_trace_tables(all);
    add_memory_tables(all);
    return all;
  }();
  return tables;
}

const Table* find_observed_table(const std::string& name) {
  for (const auto& table : observed_tables()) {
    if (table->name() == name) return table.get();
  }
  return nullptr;
}

}  // namespace kymo::store
