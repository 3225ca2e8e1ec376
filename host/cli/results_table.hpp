// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/text_table.hpp"
#include "store/results.hpp"

/// Results of an invocation, read from the database, and the settings that distinguish its runs.
namespace kymo::cli {

using measure::WorkloadSettings;

/// The value of a setting as text; strings are unquoted.
std::string value_text(const Json& value);

/// Reads the settings from an object with `workload`, `parameters` and the members named in `options`; those get the
/// prefix "--".
WorkloadSettings settings_of(const Json& run, const std::vector<std::string>& options = {});

/// Calls `use` with each row of a query as a JSON object.
void for_rows(const store::ResultsDatabase& database, const std::string& sql, const std::function<void(Json)>& use);

/// Returns an array with one object per run selected by `ids`, a query of run ids: identity, parameters, status,
/// verification, and per phase the mean, standard deviation and other statistics in nanoseconds.
Json results_of(const store::ResultsDatabase& database, const std::string& ids);

/// The objects of all runs of an invocation.
Json invocation_results(const store::ResultsDatabase& database, std::int64_t invocation_id);

/// The object of the index-th run of an invocation; null if there are fewer runs.
Json run_result(const store::ResultsDatabase& database, std::int64_t invocation_id, std::size_t index);

/// A short table of the results: workload, parameters that vary between the runs, step, phases, status, verification.
TextTable results_table(const Json& results);

/// The comparisons with references of each run, with their errors.
TextTable checks_table(const Json& results);

/// One line per distinct failure reason: "runs 3, 4 crashed: ...".
std::string failures(const Json& results);

/// One plain line per run, for logs: "transformer_lm size=tiny: ok, step 12.3 ms ± 0.4 ms".
std::string result_line(const Json& result);

}  // namespace kymo::cli
