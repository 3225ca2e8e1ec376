// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/definition.hpp"
#include "report/document.hpp"
#include "report/result.hpp"

namespace kymo::report {

/// The query results of one area chart; bands and blocks are null if the chart has none.
struct AreaRows {
  const Result& points;
  const Result* bands = nullptr;
  const Result* blocks = nullptr;
};

/// Builds stacked areas from the rows (columns as documented at ChartSpec), sorted by position. The caption counts the
/// rows that could not be drawn. Returns nullopt if there is no value. Throws UsageError with the query's file and the
/// missing column.
std::optional<Chart> build_area(const ChartSpec& spec, const AreaRows& rows);

}  // namespace kymo::report
