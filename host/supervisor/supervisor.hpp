// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "measure/outcome.hpp"
#include "measure/plan.hpp"
#include "store/results.hpp"
#include "supervisor/launcher_environment.hpp"

namespace kymo::supervisor {

/// One run to execute.
struct PlannedRun : store::RunRow {
  std::string skip_reason;         ///< not empty: store a `skipped` row and start no worker
  std::string plugin_description;  ///< JSON; empty for shared libraries, which workers load without it
  std::size_t plan_index = 0;      ///< index in the plan before any run was removed; followers identify the run by it
};

/// Progress to display while runs are executed. Delivered in the supervisor's thread.
struct ProgressView {
  std::size_t run_index = 0;
  std::size_t run_count = 0;
  std::string title;  ///< workload and the parameters that vary
  std::string stage;  ///< as in protocol::Progress
  std::int64_t step = -1;
  std::int64_t steps = 0;
  double seconds_left = -1;  ///< estimate for all remaining runs; -1 = unknown
};

/// Result of the invocation.
struct Summary;

/// Additional data for rank 0 of a job with several supervisors.
struct LeaderOptions {
  LauncherEnvironment launcher_env;
  std::vector<PlannedRun> plan;                  ///< all runs, before any was removed
  std::function<int(const Summary&)> exit_code;  ///< exit code of this process; the followers exit with the same code
};

struct Options {
  std::function<void(const ProgressView&)> on_progress;
  /// Called before each run with the number of finished runs; returns false to end the invocation.
  std::function<bool(std::size_t finished)> proceed;
  std::string keep = "all";
  const LeaderOptions* leader_options = nullptr;  ///< nullptr: all ranks are started by this process
};

struct Summary {
  std::vector<measure::Outcome> runs;  ///< in the order of execution
  int signal = 0;                      ///< SIGINT, SIGTERM or SIGHUP if one of them interrupted the invocation
};

/// Executes the runs in order and stores each one; a failing run does not affect the others. Handles SIGINT,
/// SIGTERM and SIGHUP: the first signal stops after the current step, the second immediately. SIGTSTP suspends the run
/// until SIGCONT. Throws Error only if kymo itself
/// cannot continue (database error, no worker can be started).
Summary execute_runs(store::ResultsDatabase& database, std::int64_t invocation_id, const std::vector<PlannedRun>& runs,
                     const Options& options);

/// For a leader without runs: lets the followers join and exit with code 0. Throws Error.
void release_followers(const LeaderOptions& leader_options);

}  // namespace kymo::supervisor
