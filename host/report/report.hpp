// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "store/results.hpp"

namespace kymo::report {

struct Request {
  std::string name;  ///< report below share/kymo/reports, or the path of a folder that holds report.toml
  std::filesystem::path out_folder;  ///< created if missing
  std::vector<std::string> formats;  ///< of: markdown, latex, html, csv
  store::ResultsDatabase::Selection selection;
};

/// Names of the reports of this installation.
std::vector<std::string> list_reports();

/// The formats that make_report knows.
const std::vector<std::string>& known_formats();

/// Writes the report and returns the files it wrote, the main file of each format first.
/// Throws UsageError for an unknown report or format (naming the nearest), Error for an unwritable folder; then nothing
/// was written.
std::vector<std::filesystem::path> make_report(store::ResultsDatabase& database, const Request& request);

}  // namespace kymo::report
