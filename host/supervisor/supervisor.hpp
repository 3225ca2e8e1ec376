// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "measure/plan.hpp"
#include "store/results.hpp"
#include "supervisor/launch_environment.hpp"

namespace kymo::supervisor {

/// One run to make.
struct PlannedRun {
  measure::Case what;
  measure::Method how;
  store::PluginRow plugin;
  std::string suite;       ///< empty outside a suite
  std::string suite_case;  ///< name of the case within the suite
  std::string label;
  int repetition = 0;
  std::string skip_reason;     ///< not empty: store a `skipped` row and start nothing
  std::size_t plan_index = 0;  ///< in the plan before anything was left out: by this number followers know the run
};

/// What the caller may show while runs go on. Called from the supervisor's thread.
struct ProgressView {
  std::size_t run_index = 0;
  std::size_t run_count = 0;
  std::string title;  ///< workload and what differs
  std::string stage;  ///< as in protocol::Progress
  std::int64_t step = -1;
  std::int64_t steps = 0;
  double seconds_left = -1;  ///< estimate for everything; -1 = unknown
};

/// How the invocation ended.
struct Summary;

/// The part of rank 0 in a launch of several supervisors.
struct Leading {
  Launch launch;
  std::vector<PlannedRun> plan;                  ///< whole, before anything was left out
  std::function<int(const Summary&)> exit_code;  ///< of this process; the followers end with the same
};

struct Options {
  std::function<void(const ProgressView&)> on_progress;
  std::string keep = "all";
  const Leading* leading = nullptr;  ///< nullptr: all ranks are started here
};

struct RunResult {
  std::int64_t run_id = 0;
  std::string status;
  std::string detail;
};

struct Summary {
  std::vector<RunResult> runs;
  bool interrupted = false;  ///< by SIGINT or SIGTERM
  int signal = 0;
};

/// Makes the runs in order and stores each one; a failing run never ends the others.
/// Takes over SIGINT and SIGTERM while it works: the first ends after the current step, the second at once.
/// Throws Error only if the tool itself cannot go on (database, no worker can be started).
Summary make_runs(store::ResultsDatabase& database, std::int64_t invocation_id, const std::vector<PlannedRun>& runs,
                  const Options& options);

/// For a leader that has nothing to run: lets the followers join and end, with exit code 0. Throws Error.
void dismiss_followers(const Leading& leading);

/// Closes the runs that killed supervisors left `running` in this database, and adopts the rank files they had
/// finished. What a live supervisor works on is left alone. make_runs does this first. Returns how many runs were
/// closed. Throws Error.
int recover_abandoned(store::ResultsDatabase& database);

}  // namespace kymo::supervisor
