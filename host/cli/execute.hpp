// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/case_spec.hpp"
#include "cli/expand.hpp"
#include "cli/run_options.hpp"
#include "cli/targets.hpp"

namespace kymo::cli {

/// What a command asks for: cases and the workloads they name, in the same order.
struct Order {
  std::vector<CaseSpec> specs;
  MissingDevice missing = MissingDevice::kUsageError;
};

/// Expands, selects, makes and shows the runs; returns the exit code. Nothing is written before all of the order is understood.
int execute(const Order& order, Targets& targets, const RunOptions& options, const std::string& command_line);

/// The exit code that the statuses of finished runs amount to; `signal` is 0, SIGINT or SIGTERM.
int exit_code(const std::vector<std::string>& statuses, bool fail_on_oom, int signal);

}  // namespace kymo::cli
