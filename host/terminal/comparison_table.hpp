// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "report/document.hpp"

/// `kymo compare BEFORE AFTER`: tests whether the times of the same cases differ between two sets of runs. Pure
/// functions.
namespace kymo::terminal {

/// The runs of one side: an array of the objects of brief_results(), each extended by `build` (SHA-256 of the plugin
/// file), `began` (ISO 8601), `machine` (names of its devices), `sm_clock_mhz` (median over the GPUs' readings, or
/// null), `loop_ns` (time of the reference loop, or null) and `process` (equal for runs executed by the same process).
using SideRuns = Json;

/// Returns one object per case that occurs on either side; cases with different modes or --sync are distinct. `before`
/// and `after` contain `runs` (the number of included runs), `run_ids` (theirs), `failed`, `time_ns` (median over the
/// runs of what is compared), `median_ns` and `mean_ns` (the same of their medians and means), `unlike_steps` (which
/// steps make mean and median disagree, or empty), `clock`, `sm_clock_mhz` and `loop_ns` (medians, or null) and
/// `machine`. `statistic` says what is compared, mean or median. `ratio`, `ratio_low`, `ratio_high`, `probability`,
/// `verdict` and `more_runs` are null if unknown; `by_other` has the same members for the other statistic if it leads
/// to another conclusion, and is otherwise null; `notes` lists the warnings about the comparison. On each side, only
/// runs of the newest build of a case are included. Throws UsageError if no run has the phase.
Json comparison_rows(const SideRuns& before, const SideRuns& after, const std::string& phase, double margin);

/// The rows as a table.
report::Document comparison_document(Json rows);

/// The workload of each row, with the settings that distinguish it from the other rows of its workload.
std::vector<std::string> comparison_titles(const Json& rows);

/// The verdict of a row, or why it has none.
std::string verdict_text(const Json& row);

/// The warnings of all rows, each listed once with the cases it applies to.
std::vector<std::string> comparison_notes(const Json& rows);

}  // namespace kymo::terminal
