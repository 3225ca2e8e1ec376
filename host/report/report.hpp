// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "store/results.hpp"

namespace kymo::report {

struct Request {
  std::string name;                  ///< report in share/kymo/reports, or path of a folder with report.toml
  std::filesystem::path out_folder;  ///< created if missing
  std::vector<std::string> formats;  ///< any of known_formats()
  store::ResultsDatabase::Selection selection;
  std::optional<store::ResultsDatabase::ComparedRuns> comparison = {};  ///< instead of a selection; see compares_runs()
};

/// Names of the installed reports.
std::vector<std::string> list_reports();

/// The formats supported by make_report().
std::vector<std::string> known_formats();

/// Whether a report compares two sets of runs. Throws UsageError as make_report() does.
bool compares_runs(const std::string& name);

/// Writes the report and returns the written files, the main file of each format first. Throws UsageError for an
/// unknown report or format (with the closest match) and Error for an unwritable folder; in these cases nothing is
/// written.
std::vector<std::filesystem::path> make_report(store::ResultsDatabase& database, const Request& request);

}  // namespace kymo::report
