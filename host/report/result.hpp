// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "report/definition.hpp"
#include "store/results.hpp"

/// Reading the rows of a query by the names of its columns.
namespace kymo::report {

using Result = store::ResultsDatabase::Table;
using ResultCell = store::ResultsDatabase::Cell;

/// Place of a column. Throws UsageError naming the query's file, the column and the nearest one there is.
std::size_t require_column(const QueryFile& file, const Result& result, const std::string& name);

std::optional<std::size_t> find_column(const Result& result, const std::string& name);

/// Absent for what is no number or not finite.
std::optional<double> number_of(const ResultCell& cell);

/// The same as a whole number; reals are rounded, and kept within the range.
std::optional<std::int64_t> integer_of(const ResultCell& cell);

/// The cell as a name: numbers without grouping, a dash for NULL, texts cut where they are too long for a page.
std::string label_of(const ResultCell& cell);

/// The cell as a name in full; empty for NULL.
std::string text_of(const ResultCell& cell);

/// The rows that have `part` in the column `split`; all of them if there is no such column.
Result rows_of_part(const Result& result, const std::string& split, const std::string& part);

/// "2 rows without a start are left out." with a blank before it, or nothing.
std::string left_out(std::int64_t count, const std::string& one, const std::string& several);

}  // namespace kymo::report
