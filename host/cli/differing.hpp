// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kymo::cli {

using Settings = std::map<std::string, std::string>;

/// Per workload, the settings that have more than one value among the runs (workload, settings).
inline std::map<std::string, std::set<std::string>> differing(const std::vector<std::pair<std::string, Settings>>& runs) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> values;
  for (const auto& [workload, settings] : runs)
    for (const auto& [name, value] : settings) values[{workload, name}].insert(value);
  std::map<std::string, std::set<std::string>> names;
  for (const auto& [of, seen] : values)
    if (seen.size() > 1) names[of.first].insert(of.second);
  return names;
}

}  // namespace kymo::cli
