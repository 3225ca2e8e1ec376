// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/text_table.hpp"

/// `kymo compare BEFORE AFTER`: whether the same cases take longer on one side than on the other. Pure functions.
namespace kymo::cli {

/// One side's runs: an array of what results_of() gives, each with `build` (hash of the plugin's file), `began` (ISO
/// 8601), `machine` (names of its devices), `sm_clock_mhz` (median of the GPUs' readings, or null) and `process` (the
/// same for runs that one process made).
using SideRuns = Json;

/// One object per case that either side has, measured in the same mode and with the same --sync. `before` and `after`
/// hold `runs` (that count), `failed`, `median_ns` (over their medians), `clock`, `sm_clock_mhz` (median, or null),
/// `machine`. `ratio`, `ratio_low`, `ratio_high`, `probability`, `verdict` and `more_runs` are null where unknown, and
/// `notes` says what speaks against the comparison. Of a side's runs of a case only those of the newest build count.
/// Throws UsageError if no run has the phase.
Json comparison_rows(const SideRuns& before, const SideRuns& after, const std::string& phase, double margin);

TextTable comparison_table(const Json& rows);

/// What speaks against comparisons, once each, with the cases that it is true of.
std::vector<std::string> comparison_notes(const Json& rows);

}  // namespace kymo::cli
