// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "report/document.hpp"
#include "terminal/print.hpp"

/// What `kymo run` and `kymo suite run` print about their runs, from the objects of results_of(). Pure functions.
namespace kymo::terminal {

/// The value of a metric with its unit.
std::string metric_text(const Json& metric);

/// The table of the results, the columns that do not fit, and the failures and warnings of the runs. Of many cases, it
/// has the failed and the slowest ones, and says how to show all of them, from this database.
std::string results_text(const Json& results, const TextStyle& style, const std::string& database = "kymo.db");

enum class Settings {
  kDiffering,    ///< those that differ between the rows, one column each if they are few
  kInOneColumn,  ///< those that differ between the rows of a case
  kAll,          ///< every setting, result and metric
};

/// The table of the results, and lines below it. One row per case: repetitions with the same plugin build are
/// summarized.
report::Document results_document(const Json& results, Settings shown = Settings::kDiffering,
                                  const std::vector<std::string>& lines = {});

/// "3 runs ok, verification passed": what the table omits because all runs agree; empty if they do not.
std::string agreement(const Json& results);

/// One line per distinct failure reason: "runs 3, 4 crashed: ...".
std::vector<std::string> failures(const Json& results);

/// One line per kind of warning: "run 3: interference: ...", "4 runs (3, 4, 5 and 1 more): ..." with the warning of the
/// first run. Leaves out what does not change how the results are to be read: that the verification was not requested,
/// and unstable steps. `all`: every warning.
std::vector<std::string> warnings(const Json& results, bool all = false);

/// One plain line per run, for logs: "run 1: saxpy n=8: ok, median step 12.3 ms ± 0.4 %", or the mean if it represents
/// the run.
std::string result_line(const Json& result);

}  // namespace kymo::terminal
