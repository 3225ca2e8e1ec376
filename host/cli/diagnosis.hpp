// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kymo::cli {

enum class Health { kOk, kWarning, kError };
const char* to_string(Health health);

/// One thing that was looked at.
struct Finding {
  std::string subject;
  Health health = Health::kOk;
  std::string detail;  ///< what was found
  std::string remedy;  ///< what to do; empty when ok
};

/// Looks at everything that the tool can use. A warning means that something does not work here, an error that nothing
/// does.
std::vector<Finding> examine(const std::filesystem::path& database);

/// Whether GPU tracing is kept for administrators, from the text of /proc/driver/nvidia/params.
bool profiling_is_restricted(const std::string& driver_parameters);

}  // namespace kymo::cli
