// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/run_selection.hpp"

namespace kymo::cli {

/// Tests the step times of the runs of two labels or invocations of a database, case by case, as `kymo compare` does.
/// Throws UsageError for other sides and if the sides have no case in common.
report::ComparedRuns compared_runs(const store::ResultsDatabase& database, const std::string& before,
                                   const std::string& after);

}  // namespace kymo::cli
