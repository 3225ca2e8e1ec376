// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/against.hpp"
#include "cli/case_spec.hpp"
#include "cli/expand.hpp"
#include "cli/run_options.hpp"
#include "cli/targets.hpp"

namespace kymo::cli {

/// What a case's ranks become under torchrun or srun.
enum class Ranks {
  kAsStated,     ///< the case's own number; more than the launch has is a skipped run
  kOfLaunch,     ///< as many as the launch has
  kStartedHere,  ///< the case's own number, all started by this process: the launch is not looked at
};

/// What a command asks for: cases and the workloads they name, in the same order.
struct Order {
  std::vector<CaseSpec> specs;
  MissingDevice missing = MissingDevice::kUsageError;
  Ranks ranks = Ranks::kAsStated;
  std::optional<Peer> against = std::nullopt;  ///< run in turn with each case
};

/// Expands, selects, makes and shows the runs; returns the exit code. Nothing is written before all of the order is
/// understood.
int execute(const Order& order, Targets& targets, const RunOptions& options, const std::string& command_line);

/// The exit code that the statuses of finished runs amount to; `signal` is 0, SIGINT or SIGTERM.
int exit_code(const std::vector<std::string>& statuses, bool fail_on_oom, int signal);

}  // namespace kymo::cli
