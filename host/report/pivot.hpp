// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "report/result.hpp"

namespace kymo::report {

/// A query and its rows after the values of a column became columns.
struct PivotedQuery {
  QueryFile file;  ///< with the display options of the new columns
  Result result;
};

/// Carries out the pivot of a query: one row for all rows that agree on the other columns, and one column per value
/// column and heading, unless all its cells are NULL. Returns several parts with the same rows if there are too many
/// columns for one table. Throws UsageError if a column does not exist or a cell is given twice.
std::vector<PivotedQuery> pivot(const QueryFile& file, const Result& result);

/// Replaces each column with `spread` by a column for each member of the objects in its cells, in the order of their
/// first appearance. Numbers are shown as they are written, unless the column has a format.
PivotedQuery spread(const QueryFile& file, const Result& result);

}  // namespace kymo::report
