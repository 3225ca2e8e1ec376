// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/definition.hpp"
#include "report/document.hpp"
#include "report/result.hpp"

namespace kymo::report {

/// The rows of the queries of one area chart; bands and blocks are null if it has none.
struct AreaRows {
  const Result& points;
  const Result* bands = nullptr;
  const Result* blocks = nullptr;
};

/// Makes stacked areas of the rows (columns as ChartSpec says), points by position; its caption counts the rows that
/// could not be drawn. Absent if there is no figure. Throws UsageError naming the query's file and the column it lacks.
std::optional<Chart> build_area(const ChartSpec& spec, const AreaRows& rows);

}  // namespace kymo::report
