// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "report/output.hpp"
#include "store/results.hpp"
#include "terminal/results_table.hpp"

namespace kymo::terminal {

/// What the passes that observe recorded in a run: the definition `observed` or `roofline` in reports/terminal. `file`
/// is the database as given to --db, for the commands that show more.
report::Output observed(const std::string& name, const store::ResultsDatabase& database, std::int64_t run_id,
                        const std::string& file);

/// The results of runs of a program (as from results_of()) as a table, with what was observed in the last one.
std::string program_text(const store::ResultsDatabase& database, const Json& results, const std::string& file,
                         const TextStyle& style);

}  // namespace kymo::terminal
