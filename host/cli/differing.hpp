// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"

/// The settings that distinguish the runs of one workload.
namespace kymo::cli {

/// Settings of a run as text: its parameters, and command-line options such as "--ranks".
using Settings = std::map<std::string, std::string>;

/// The value of a setting as text; strings are unquoted.
std::string value_text(const Json& value);

struct WorkloadSettings {
  std::string workload;
  Settings settings;
};

/// Reads the settings from an object with `workload`, `parameters` and the members named in `options`; those get the
/// prefix "--".
WorkloadSettings settings_of(const Json& run, const std::vector<std::string>& options = {});

/// For each run, "name=value ..." for the settings that vary among the runs of its workload. An option that has the
/// same name as a parameter keeps its "--".
std::vector<std::string> differing(const std::vector<WorkloadSettings>& runs);

}  // namespace kymo::cli
