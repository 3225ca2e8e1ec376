// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "base/installation.hpp"
#include "catalog/catalog.hpp"

namespace kymo::cli {

enum class Health { kOk, kWarning, kError };
constexpr auto names_of(Health) {
  using enum Health;
  return enum_names<Health>("health", {{kOk, "ok"}, {kWarning, "warning"}, {kError, "error"}});
}

/// The result of one check.
struct Finding {
  std::string subject;
  Health health = Health::kOk;
  std::string detail;  ///< what was found
  std::string remedy;  ///< suggested fix; empty when ok
};

/// Checks everything kymo depends on. A warning means that a feature is unavailable; an error means that kymo cannot
/// run workloads.
std::vector<Finding> examine(const std::filesystem::path& database, const catalog::Options& options);

/// What kymo records in processes of Python with this torch. `modules` is the directory of the collector modules.
Finding examine_python_torch(const TorchLocation& torch, const std::filesystem::path& modules);

/// Version of the CUPTI that was installed for a torch, such as "13.2.86"; empty if its wheel says none.
std::string cupti_version(const TorchLocation& torch);

/// Whether the hardware counters of a GPU can be read. `problem` is one of worker::Devices::counter_problems.
Finding counter_finding(int gpu, const std::string& problem);

/// True if the driver restricts GPU tracing to administrators, given the text of /proc/driver/nvidia/params.
bool profiling_is_restricted(const std::string& driver_parameters);

}  // namespace kymo::cli
