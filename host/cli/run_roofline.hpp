// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/json.hpp"
#include "cli/results_table.hpp"
#include "store/results.hpp"

/// How close the operators and kernels of one run come to the measured peaks of its device, and why, for `kymo show
/// --roofline`.
namespace kymo::cli {

/// Reads `operators` and `kernels`, the ten with the most time per step of the first rank, from the views op_verdict
/// and kernel_verdict; `unknown`, the operators of unknown work; `utilization`, the rows of step_utilization; and
/// `has_work`, whether a pass recorded the arguments of operators.
Json roofline_of(const store::ResultsDatabase& database, std::int64_t run_id);

/// The same as tables that fit the width, a reason for each of the first five operators and kernels, and what to run if
/// arguments or peaks are missing. Pure function; `database` is the file as given to --db, for these commands.
std::string roofline_text(const Json& roofline, const std::string& database, const TableStyle& style);

}  // namespace kymo::cli
