// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/sqlite.hpp"

/// What the code must know of the tables beyond their names: who owns their rows.
namespace kymo::store {

/// A table whose rows a worker observes and a rank file carries. All have run_id and rank.
struct ObservedTable {
  const char* name;
  bool has_pass;  ///< rows belong to a pass; else the time pass's rows win over those of other passes
};
const std::vector<ObservedTable>& observed_tables();

/// Every table with a column run_id but run itself: what a run owns.
std::vector<std::string> tables_of_runs(const Connection& connection);

/// Columns of a table of the main database in their order.
std::vector<std::string> columns_of(const Connection& connection, const std::string& table);

/// Columns that both databases have, in the target's order: an older file lacks those that later migrations added.
std::vector<std::string> common_columns(const Connection& source, const Connection& target, const std::string& table);

/// Identifiers of one database and what they became in another.
using IdMap = std::map<std::int64_t, std::int64_t>;

/// A column of identifiers to translate; counts from 0.
struct Translation {
  int column = 0;
  const IdMap* ids = nullptr;
};

/// Copies rows from one database to another: every row of `select` (already bound) goes through `insert`, which has one parameter per
/// column. An identifier that its map does not know becomes NULL.
void copy_rows(Statement& select, Statement& insert, const std::vector<Translation>& translations);

/// "INSERT OR IGNORE INTO main.table (a, b) VALUES (?, ?)" and "SELECT a, b FROM main.table".
std::string insert_sql(const std::string& table, const std::vector<std::string>& columns);
std::string select_sql(const std::string& table, const std::vector<std::string>& columns);

/// Position of a name in a list; -1 if it is not there.
int position_of(const std::vector<std::string>& names, const std::string& name);

}  // namespace kymo::store
