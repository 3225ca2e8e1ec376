// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "report/definition.hpp"
#include "report/document.hpp"
#include "report/run_selection.hpp"

namespace kymo::report {

struct Request {
  std::filesystem::path out_folder;  ///< created if missing
  std::vector<std::string> formats;  ///< any of known_formats()
  Selection selection;
  std::optional<ComparedRuns> comparison = {};  ///< instead of a selection, to compare
  std::optional<Json> history = {};             ///< instead of a selection: what terminal::history_of() returns
  bool hand_in = false;  ///< without the appendix, and shortened as by shortened_to_hand_in(); CSV files have all rows
  /// Most runs that a report shows of those selected, if its definition hides the history.
  std::int64_t most_runs = 1'800;
  /// The files that the HTML report offers to save with a chart; may be empty.
  std::function<std::vector<Attachment>(const Chart& chart)> files_of = {};
};

/// Names of the installed reports.
std::vector<std::string> list_reports();

/// The formats supported by make_report().
std::vector<std::string> known_formats();

/// Reads an installed report, by its name, or that of a folder with report.toml. Throws UsageError for an unknown
/// report (with the closest match) and for an invalid definition.
ReportDefinition find_report(const std::string& name);

/// Writes the report and returns the written files, the main file of each format first. Logs the time of each query, at
/// level debug. Throws UsageError for an unknown format (with the closest match) and Error for an unwritable folder; in
/// these cases nothing is written.
std::vector<std::filesystem::path> make_report(store::ResultsDatabase& database, const ReportDefinition& definition,
                                               const Request& request);

}  // namespace kymo::report
