// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plan/case_spec.hpp"

/// Suites: TOML files that define cases, `reports/<name>/suite.toml`.
namespace kymo::plan {

struct Suite {
  std::string name;
  std::string title;
  std::vector<CaseSpec> cases;        ///< with the selected profile applied
  std::vector<std::string> profiles;  ///< all profiles of all cases
  double max_time_s = 0;              ///< how long the runs may take together, in the selected profile; 0: no limit
  std::map<std::string, double> max_time_of_profiles_s;  ///< of the profiles that state their own
};

/// Parses a suite from TOML text. `origin` names the file in errors; `profile` may be empty. Throws UsageError for
/// unknown keys, wrong types, missing names, duplicate case names and an unknown profile.
Suite parse_suite(std::string_view toml, const std::string& name, const std::string& origin,
                  const std::string& profile);

/// Finds an installed suite by name, or reads a file by path (a text with '/' or ending in .toml). Throws UsageError
/// with the closest match if there is no such suite.
Suite find_suite(const std::string& name_or_file, const std::string& profile);

/// Replaces each case whose workload contains '*' by one case for each matching workload that is not excluded, in the
/// given order; '*' in the name of the case becomes the text matched. `workloads` is called only if there is such a
/// case. Throws UsageError if nothing matches or if two cases then have the same name.
std::vector<CaseSpec> expand_patterns(const std::vector<CaseSpec>& cases,
                                      const std::function<std::vector<std::string>()>& workloads);

/// The names of the installed suites, sorted.
std::vector<std::string> suite_names();

}  // namespace kymo::plan
