// SPDX-License-Identifier: Apache-2.0
#include "cli/differing.hpp"

#include <set>
#include <utility>

#include "base/text.hpp"

namespace kymo::cli {
namespace {

std::string shown_name(const std::string& name, const Settings& settings) {
  return name.starts_with("--") && !settings.contains(name.substr(2)) ? name.substr(2) : name;
}

}  // namespace

std::string value_text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

WorkloadSettings settings_of(const Json& run, const std::vector<std::string>& options) {
  WorkloadSettings found{run["workload"].is_null() ? "" : run["workload"].get<std::string>(), {}};
  for (const auto& [name, value] : run["parameters"].items()) found.settings[name] = value_text(value);
  for (const std::string& name : options) found.settings["--" + name] = value_text(run[name]);
  return found;
}

std::vector<std::string> differing(const std::vector<WorkloadSettings>& runs) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> values;
  for (const WorkloadSettings& run : runs)
    for (const auto& [name, value] : run.settings) values[{run.workload, name}].insert(value);
  std::vector<std::string> texts;
  for (const WorkloadSettings& run : runs) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : run.settings)
      if (values[{run.workload, name}].size() > 1) parts.push_back(shown_name(name, run.settings) + "=" + value);
    texts.push_back(join(parts, " "));
  }
  return texts;
}

}  // namespace kymo::cli
