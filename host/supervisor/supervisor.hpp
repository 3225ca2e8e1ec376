// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "store/results.hpp"
#include "supervisor/follower_hub.hpp"
#include "supervisor/progress_meter.hpp"
#include "supervisor/runs.hpp"
#include "supervisor/worker_command.hpp"

namespace kymo::supervisor {

struct Options {
  std::function<void(const ProgressView&)> on_progress;
  /// Called before each run with the number of finished runs; returns false to end the invocation.
  std::function<bool(std::size_t finished)> proceed;
  double max_time_s = 0;  ///< of all runs; those that do not fit are recorded as skipped; 0 means no limit
  store::Keep keep = store::Keep::kAll;
  std::filesystem::path project = {};             ///< whose commit is stored with the runs; empty: see project_commit()
  const LeaderOptions* leader_options = nullptr;  ///< nullptr: all ranks are started by this process
};

/// Executes the runs in order and stores each one; a failing run does not affect the others. The repetitions of a run
/// that was skipped are skipped for the same reason. Handles SIGINT, SIGTERM and SIGHUP: the first signal stops after
/// the current step, the second immediately. SIGTSTP suspends the run until SIGCONT. Throws Error only if kymo itself
/// cannot continue (database error, no worker can be started).
Summary execute_runs(store::ResultsDatabase& database, std::int64_t invocation_id, const std::vector<PlannedRun>& runs,
                     const Options& options);
/// The same with another launch configuration of the workers, for tests.
Summary execute_runs(store::ResultsDatabase& database, std::int64_t invocation_id, const std::vector<PlannedRun>& runs,
                     const Options& options, const SupervisorConfig& config);

/// For a leader without runs: lets the followers join and exit with code 0. Throws Error.
void release_followers(const LeaderOptions& leader_options);

}  // namespace kymo::supervisor
