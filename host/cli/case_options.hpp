// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/execute.hpp"

namespace CLI {
class App;
}

namespace kymo::cli {

/// What names the cases of `run` and `verify` on the command line.
struct CaseOptions {
  std::vector<std::string> workloads, set, axes;
  std::optional<std::int64_t> ranks;
};

enum class Axes { kAdmitted, kNone };

/// `options` must outlive the parsing of the command.
void add_case_options(CLI::App& command, CaseOptions& options, Axes axes);

/// One specification for each workload. Throws UsageError for a text that is no setting or no axis.
Order order_of(const CaseOptions& options);

}  // namespace kymo::cli
