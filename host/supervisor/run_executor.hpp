// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "supervisor/follower_hub.hpp"
#include "supervisor/progress_meter.hpp"
#include "supervisor/runs.hpp"
#include "supervisor/scratch.hpp"
#include "supervisor/time_limit.hpp"
#include "supervisor/worker_command.hpp"

namespace kymo::supervisor {

/// Executes runs one after the other. Owns the event loop, the control server, the workers and, during its lifetime,
/// the handlers of signals. Everything runs in the thread that created it.
class RunExecutor {
 public:
  /// `leader_options` is nullptr if all ranks are started by this process. Throws Error if workers cannot be started at
  /// all.
  RunExecutor(const SupervisorConfig& config, const Scratch& scratch, ProgressMeter& meter,
              const LeaderOptions* leader_options = nullptr);
  /// Terminates all remaining workers.
  ~RunExecutor();
  RunExecutor(const RunExecutor&) = delete;
  RunExecutor& operator=(const RunExecutor&) = delete;

  /// Waits until every follower has joined or a signal arrives. Throws Error with the missing ranks, or with the reason
  /// why they are incompatible.
  void gather_followers();
  /// Returns false if a follower is lost, so that the remaining `left` runs cannot be executed; logs this once.
  bool can_continue(std::size_t left);
  /// Tells the followers to exit with this code.
  void finish_followers(int code);

  /// Does not throw for failures of workers. A run that is not complete at the end of `all_runs` is skipped.
  ExecutedRun execute(std::int64_t run_id, const PlannedRun& run, const TimeLimit& all_runs = {});
  /// Waits for the next window of the program of this run, and starts the program if its windows are on request. Sets
  /// the ranks that it turned out to have. Empty: the program has ended, or has been told to.
  std::optional<Window> next_window(PlannedRun& run);
  /// The run of the last window is stored.
  void end_window(std::int64_t run_id);
  /// Waits until the program whose windows were observed has ended.
  ProcessEnd end_program();
  /// Polls for signals and returns the one the user sent, or 0.
  int interrupted_by();
  /// Tells idle workers to exit.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kymo::supervisor
