// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/definition.hpp"
#include "report/document.hpp"
#include "report/result.hpp"

namespace kymo::report {

/// Builds a timeline from the rows (columns as documented at ChartSpec). The caption counts the rows that could not be
/// drawn as given. Returns nullopt if no row has a start and an end. `panel` is a column name or empty. Throws
/// UsageError with the query's file and the missing column, or if panels are combined with steps.
std::optional<Chart> build_timeline(const QueryFile& query, const Result& result, const std::string& panel = "");

}  // namespace kymo::report
