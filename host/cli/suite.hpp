// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/case_spec.hpp"

/// Suites: TOML files of cases, `reports/<name>/suite.toml`.
namespace kymo::cli {

struct Suite {
  std::string name;
  std::string title;
  std::vector<CaseSpec> cases;        ///< with the chosen profile applied
  std::vector<std::string> profiles;  ///< every profile that some case has
};

/// Reads a suite from TOML text. `origin` is named in errors; `profile` may be empty.
/// Throws UsageError for unknown keys, wrong types, missing names, two cases of one name, and an unknown profile.
Suite parse_suite(std::string_view toml, const std::string& name, const std::string& origin,
                  const std::string& profile);

/// A suite of the installation by its name, or a file by its path (a text with '/' or ending in .toml).
/// Throws UsageError naming the nearest suite.
Suite find_suite(const std::string& name_or_file, const std::string& profile);

/// The names of the installation's suites, sorted.
std::vector<std::string> suite_names();

}  // namespace kymo::cli
