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

/// Command-line options of `run`, `verify` and `fit` that select the cases.
struct CaseOptions {
  std::vector<std::string> workloads, set, axes;
  std::optional<std::int64_t> ranks;
};

enum class Axes { kAllowed, kNone };

/// `options` must outlive the parsing of the command line.
void add_case_options(CLI::App& command, CaseOptions& options, Axes axes);

/// Returns one specification per workload. Throws UsageError for a malformed setting or axis.
Invocation invocation_of(const CaseOptions& options);

}  // namespace kymo::cli
