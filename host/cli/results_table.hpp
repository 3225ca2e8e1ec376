// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/text_table.hpp"

/// What `kymo run` and `kymo suite run` print about their runs, from the objects of results_of(). Pure functions.
namespace kymo::cli {

/// A number with a unit and a prefix for its magnitude, for example "1.25 TFLOP/s".
std::string rate_text(double per_second, const std::string& unit = "");

bool has_several_ranks(const Json& run);

/// The header of a column of rates, which says that they are per rank where there are several ranks.
std::string rate_title(const std::string& unit, bool per_rank);

/// The value of a metric with its unit.
std::string metric_text(const Json& metric);

struct TableStyle {
  bool wide = false;      ///< every setting and result, whatever the width
  bool markdown = false;  ///< for a pull request, whatever the width
  bool colour = false;
  std::size_t columns = 100;  ///< maximum width of the table
};

/// The table of the results, the columns that do not fit, and the failures and warnings of the runs.
std::string results_text(const Json& results, const TableStyle& style);

/// One row per case: repetitions with the same plugin build are summarized. Shows the settings and results that differ
/// between the rows; `all` shows every setting and result.
TextTable results_table(const Json& results, bool all = false);

/// "3 runs ok, verification passed": what the table omits because all runs agree; empty if they do not.
std::string agreement(const Json& results);

/// The comparisons with references of each run, with their errors.
TextTable checks_table(const Json& results);

/// One line per distinct failure reason: "runs 3, 4 crashed: ...".
std::vector<std::string> failures(const Json& results);

/// One line per distinct warning: "run 3: unstable: ...". Warnings of one kind with different details are listed up to
/// a limit. Omits that the verification was not requested.
std::vector<std::string> warnings(const Json& results);

/// One plain line per run, for logs: "run 1: saxpy n=8: ok, median step 12.3 ms ± 0.4 %", or the mean if it represents
/// the run.
std::string result_line(const Json& result);

}  // namespace kymo::cli
