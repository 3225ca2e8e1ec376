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

/// What the code must know of the tables beyond their names: who owns their rows, and what their numbers refer to.
namespace kymo::store {

/// How a row of events relates to a step: what `--keep one-step` goes by.
enum class Extent {
  kNoEvent,  ///< not a row of events: kept whatever --keep says
  kStep,     ///< has column step
  kMoment,   ///< the same; rows at named moments stay too
  kTime,     ///< from start_ns to end_ns
  kLife,     ///< from alloc_ns to free_ns, which is NULL for what was never given back
  kShape,    ///< belongs to kernels
  kStack,    ///< belongs to allocations
  kFrame,    ///< belongs to stacks
};

/// A table whose rows a worker observes and a rank file carries. All have run_id and rank.
struct ObservedTable {
  const char* name;
  bool has_pass;  ///< rows belong to a pass; else the time pass's rows win over those of other passes
  Extent extent = Extent::kNoEvent;
};
const std::vector<ObservedTable>& observed_tables();

/// A table that says something about a text, and so belongs to no run. Its key is a row of string.
const std::vector<std::string>& text_tables();

/// True for the columns that hold rows of string. Every other `..._id` is a number of its own kind.
bool refers_to_text(const std::string& column);

/// Every table with a column run_id but run itself: what a run owns.
std::vector<std::string> tables_of_runs(const Connection& connection);

/// Columns of a table of the main database in their order.
std::vector<std::string> columns_of(const Connection& connection, const std::string& table);

/// Columns that both databases have, in the target's order: an older file lacks those that later migrations added.
std::vector<std::string> common_columns(const Connection& source, const Connection& target, const std::string& table);

/// Identifiers of one database and what they became in another.
class IdMap {
 public:
  void set(std::int64_t id, std::int64_t becomes);
  /// Null if the identifier is unknown.
  const std::int64_t* find(std::int64_t id) const;

 private:
  static constexpr std::int64_t kDense = 1 << 20;  // identifiers are small unless a file was made to harm
  std::vector<std::optional<std::int64_t>> dense_;
  std::unordered_map<std::int64_t, std::int64_t> others_;
};

/// A column of identifiers to translate; counts from 0.
struct Translation {
  int column = 0;
  const IdMap* ids = nullptr;
};

/// Adds a translation for each column that refers to a text.
void translate_texts(const std::vector<std::string>& columns, const IdMap& texts,
                     std::vector<Translation>& translations);

/// Where copied rows go: columns of a table of the target in the order in which they are selected, after those that are
/// fixed.
struct CopyTarget {
  const Connection& connection;
  std::string table;
  std::vector<std::string> columns;
  std::vector<FixedColumn> fixed = {};
  Conflict conflict = Conflict::kKeepOld;
};

/// Copies every row of `select` (already bound). An identifier that its map does not know becomes NULL, or leaves the
/// row out where the table asks for one. Returns how many rows that befell.
std::int64_t copy_rows(Statement& select, const CopyTarget& to, const std::vector<Translation>& translations);
/// The same for a statement of RowCapture::select_sql(): for tables of many rows.
std::int64_t copy_rows(Statement& select, RowCapture& capture, const CopyTarget& to,
                       const std::vector<Translation>& translations);

/// "SELECT a, b FROM main.table".
std::string select_sql(const std::string& table, const std::vector<std::string>& columns);

/// Position of a name in a list; -1 if it is not there.
int position_of(const std::vector<std::string>& names, const std::string& name);

}  // namespace kymo::store
