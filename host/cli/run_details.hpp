// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/json.hpp"
#include "cli/results_table.hpp"
#include "store/results.hpp"

/// What the passes trace, ops and memory recorded about one run, in short.
namespace kymo::cli {

/// Reads from the first rank with records: `kernels` and `operators`, the ten with the most time per step, each with
/// `name`, `module`, `phase`, `calls`, `time_ms` and `share`; `memory`, the peak of each phase with its categories;
/// `phases`, the time of each phase in one of these passes, for runs without a time pass; `findings`, what limits a
/// step, the longest first; and `overhead`, the slowdown of each of these passes. Arrays are empty for passes that the
/// run does not have.
Json observed_details(const store::ResultsDatabase& database, std::int64_t run_id);

/// The details of a run (as from results_of()) as tables that fit the width, with the commands that show more. Empty
/// without details. Pure function; `database` is the file as given to --db, for these commands.
std::string observed_text(const Json& details, const Json& run, const std::string& database, const TableStyle& style);

/// The results of runs of a program (as from results_of()) as a table, with the details of the last one.
std::string program_text(const store::ResultsDatabase& database, const Json& results, const std::string& file,
                         const TableStyle& style);

}  // namespace kymo::cli
