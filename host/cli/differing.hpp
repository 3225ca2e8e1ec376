// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"

/// What tells the runs of one workload from each other.
namespace kymo::cli {

/// Settings of a run as text: its parameters, and "--ranks" and the like of the command line.
using Settings = std::map<std::string, std::string>;

/// The value of a setting: texts without quotes.
std::string value_text(const Json& value);

struct WorkloadSettings {
  std::string workload;
  Settings settings;
};

/// Of an object with `workload`, `parameters` and the members that `options` names, which become "--" and the name.
WorkloadSettings settings_of(const Json& run, const std::vector<std::string>& options = {});

/// Of each run, "name=value ..." of the settings that have more than one value among the runs of its workload. An
/// option that has the name of a parameter keeps its "--".
std::vector<std::string> differing(const std::vector<WorkloadSettings>& runs);

}  // namespace kymo::cli
