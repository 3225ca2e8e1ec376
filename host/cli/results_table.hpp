// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/json.hpp"
#include "cli/text_table.hpp"
#include "store/results.hpp"

/// What an invocation measured, read back from the database.
namespace kymo::cli {

/// Calls `use` with each row of a query as an object.
void for_rows(const store::ResultsDatabase& database, const std::string& sql, const std::function<void(Json)>& use);

/// An array with one object per run that a query of run ids selects: identity, parameters, status, verification, and
/// mean, std … in nanoseconds per phase.
Json results_of(const store::ResultsDatabase& database, const std::string& ids);

/// Those of an invocation.
Json invocation_results(const store::ResultsDatabase& database, std::int64_t invocation_id);

/// The object of its index-th run alone; null if there are fewer.
Json run_result(const store::ResultsDatabase& database, std::int64_t invocation_id, std::size_t index);

/// The same as a short table: workload, the parameters that differ between its runs, step, phases, status,
/// verification.
TextTable results_table(const Json& results);

/// What was compared with a reference in each run, and how far off it was.
TextTable checks_table(const Json& results);

/// One line per reason why runs are not ok: "runs 3, 4 crashed: ...".
std::string failures(const Json& results);

/// One plain line on one run, for logs: "transformer_lm size=tiny: ok, step 12.3 ms ± 0.4 ms".
std::string result_line(const Json& result);

}  // namespace kymo::cli
