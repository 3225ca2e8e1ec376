// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "report/definition.hpp"
#include "report/document.hpp"
#include "store/results.hpp"

/// Access to the rows of a query by column name.
namespace kymo::report {

using Result = store::ResultsDatabase::Table;
using ResultCell = store::ResultsDatabase::Cell;

/// Index of a column. Throws UsageError with the query's file, the column and the closest match.
std::size_t require_column(const QueryFile& file, const Result& result, const std::string& name);

std::optional<std::size_t> find_column(const Result& result, const std::string& name);

/// nullopt if the cell is not a number or not finite.
std::optional<double> number_of(const ResultCell& cell);

/// The same as an integer; reals are rounded and clamped.
std::optional<std::int64_t> integer_of(const ResultCell& cell);

/// Converts a cell of a query result to a cell of a document.
Cell cell_from(const ResultCell& cell);

/// Adds to a cell what its column finds in others of the row. A column that does not exist adds nothing.
void complete(Cell& cell, const ColumnSpec& spec, const Result& rows, std::size_t row);

/// Display of a column; `spec` is null for a column without a specification.
Column column_from(const std::string& name, const ColumnSpec* spec);

/// The cell as a name: numbers without grouping, a dash for NULL, long texts shortened.
std::string label_of(const ResultCell& cell);

/// The cell as a full name; empty for NULL.
std::string text_of(const ResultCell& cell);

/// The distinct labels of a column, in row order.
std::vector<std::string> labels_in(const Result& result, std::size_t column);

/// The rows whose column `split` contains `part`; all rows if there is no such column.
Result rows_of_part(const Result& result, const std::string& split, const std::string& part);

/// A row as an object; NULL becomes null.
Json json_row(const std::vector<std::string>& columns, const std::vector<ResultCell>& cells);
/// All rows as an array of such objects.
Json json_rows(const Result& result);

/// "2 rows without a start are left out." with a leading space, or an empty text.
std::string left_out(std::int64_t count, const std::string& one, const std::string& several);

}  // namespace kymo::report
