// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "store/results.hpp"
#include "supervisor/launch.hpp"
#include "supervisor/progress_meter.hpp"
#include "supervisor/scratch.hpp"

namespace kymo::supervisor {

/// What a run left behind, ready to be stored.
struct MadeRun {
  store::RunEnd end;
  std::vector<store::WorkerRow> workers;
  std::vector<std::filesystem::path> rank_files;
};

/// Makes runs one after the other: owns the event loop, the control server, the workers and, while it lives, SIGINT and
/// SIGTERM. Everything happens in the thread that made it.
class RunMaker {
 public:
  /// `leading` is nullptr where all ranks are started here. Throws Error if no worker could ever be started.
  RunMaker(const Conditions& setup, const Scratch& scratch, ProgressMeter& meter, const Leading* leading = nullptr);
  /// Ends whatever still runs.
  ~RunMaker();
  RunMaker(const RunMaker&) = delete;
  RunMaker& operator=(const RunMaker&) = delete;

  /// Waits until every follower has joined, or a signal came. Throws Error naming the ranks that are missing, or why
  /// they do not fit.
  void gather_followers();
  /// False, and said once, when a follower is lost and `left` runs cannot be made.
  bool can_go_on(std::size_t left);
  /// Tells the followers to end with this exit code.
  void finish_followers(int code);

  /// Never throws for what a worker did.
  MadeRun make(std::int64_t run_id, const PlannedRun& run);
  /// The signal that the user sent, or 0; looks for new ones first.
  int interrupted_by();
  /// Lets idle workers end.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kymo::supervisor
