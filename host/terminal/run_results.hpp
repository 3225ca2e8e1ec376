// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "measure/equivalence.hpp"
#include "store/results.hpp"

/// Results of runs, read from the database as JSON, and the settings that distinguish runs.
namespace kymo::terminal {

using measure::WorkloadSettings;

/// The value of a setting as text; strings are unquoted.
std::string value_text(const Json& value);

/// Reads the settings from an object with `workload`, `parameters` and the members named in `options`; those get the
/// prefix "--".
WorkloadSettings settings_of(const Json& run, const std::vector<std::string>& options = {});

/// Calls `use` with each row of a query as a JSON object.
void for_rows(const store::ResultsDatabase& database, const std::string& sql, const std::function<void(Json)>& use);

/// Returns an array with one object per run selected by `ids`, a query of run ids: identity, parameters, status and
/// verification; `phases` with the statistics of each phase in nanoseconds, of which `time_ns` is the one that
/// represents the run (`statistic`: mean or median), and, where work is declared, `flops` and `bytes` per step and rank
/// and the rates `flops_per_s` and `bytes_per_s` per rank at this time, and for the step of a collective its bandwidth
/// per rank, `algbw_gb_s` and `busbw_gb_s` at the median (view all_reduce_bandwidth); `metrics` with the last value of
/// each metric that rank 0 reported in the time pass, for metrics of steps the median over the measured steps; and
/// `warnings` with `kind` and `detail`.
Json results_of(const store::ResultsDatabase& database, const std::string& ids);

/// The objects of all runs of an invocation.
Json invocation_results(const store::ResultsDatabase& database, std::int64_t invocation_id);

/// Such objects with identity, parameters and status, and the times of the phases t of which `phases` is true.
Json brief_results(const store::ResultsDatabase& database, const std::string& ids,
                   const std::string& phases = "t.phase = 'step'");

/// The same of the index-th run of an invocation; null if there is no such run. Takes the same time however many runs
/// there are.
Json brief_result(const store::ResultsDatabase& database, std::int64_t invocation_id, std::size_t index);

}  // namespace kymo::terminal
