// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/definition.hpp"
#include "report/document.hpp"
#include "report/result.hpp"

namespace kymo::report {

/// Makes a timeline of the rows (columns as ChartSpec says); its caption counts the rows that could not be drawn as
/// they are. Absent if no row has a start and an end. `panel` names a column, or is empty. Throws UsageError naming the
/// query's file and the column it lacks, or that panels do not go with steps.
std::optional<Chart> build_timeline(const QueryFile& query, const Result& result, const std::string& panel = "");

}  // namespace kymo::report
