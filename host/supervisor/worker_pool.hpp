// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "supervisor/asio_forward.hpp"
#include "supervisor/worker_team.hpp"

namespace kymo::supervisor {

/// Starts and ends the workers of a supervisor, and keeps those that can serve further runs in between: as they are, or
/// with a new fork for each pass.
class WorkerPool {
 public:
  WorkerPool(boost::asio::io_context& loop, ControlServer& server, const SupervisorConfig& config,
             WorkerTeam::Starter start);
  /// Kills all workers.
  ~WorkerPool() = default;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Starts the workers of a run. Throws Error.
  std::unique_ptr<WorkerTeam> start(const PlannedRun& run) {
    return std::make_unique<WorkerTeam>(server_, start_, run);
  }
  /// Keeps idle workers that have served a run.
  void keep(std::unique_ptr<WorkerTeam> team, const PlannedRun& run);
  /// Tells idle workers to exit unless they can serve this run.
  void prepare_for(const PlannedRun& run);
  /// Returns the idle workers, or nullptr if there are none.
  std::unique_ptr<WorkerTeam> take_idle();
  /// Ends the forks that have served a pass of this run, and keeps the processes that they are forks of.
  void keep_for_forks(std::unique_ptr<WorkerTeam> team, const PlannedRun& run);
  /// Returns new forks of processes that were kept for such runs, which connect later, or nullptr if there are none.
  std::unique_ptr<WorkerTeam> take_forks(const PlannedRun& run);
  /// Tells workers to exit, and kills those that are still running after the grace period.
  void end(WorkerTeam& team, bool wrapped);
  /// Waits for workers to end by themselves, however long that takes.
  void wait_for_end(WorkerTeam& team);
  /// Tells idle workers to exit.
  void end_idle();
  /// Ends all workers that were kept.
  void end_all();
  /// Kills the workers of the pool; from now on, end() does not wait for workers to exit by themselves.
  void kill();
  bool killed() const { return killed_; }

  bool is_idle(WorkerId worker) const { return idle_ && idle_->rank_of(worker); }
  /// The connection of a worker was closed: it can no longer serve a run.
  void closed(WorkerId worker);
  /// Drops idle workers that have ended.
  void tick();
  /// True if a process that was told to exit is about to end: check again soon.
  bool ending() const { return leaving_ && leaving_->ending(); }

 private:
  struct Kept {
    std::string key;
    std::unique_ptr<WorkerTeam> team;
  };
  void end_kept(Kept kept);

  boost::asio::io_context& loop_;
  ControlServer& server_;
  const SupervisorConfig& config_;
  WorkerTeam::Starter start_;
  std::unique_ptr<WorkerTeam> idle_;
  std::string idle_key_;
  bool idle_wrapped_ = false;
  std::deque<Kept> for_forks_;
  std::unique_ptr<WorkerTeam> leaving_;  ///< kept workers that were told to exit
  bool killed_ = false;
};

}  // namespace kymo::supervisor
