// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/pass_state.hpp"
#include "supervisor/progress_meter.hpp"
#include "supervisor/runs.hpp"
#include "supervisor/scratch.hpp"
#include "supervisor/worker_team.hpp"

namespace kymo::supervisor {

/// One pass of a run on its workers: passes what they report to the state machine of the pass, performs the actions
/// that it returns, and collects the results. Messages of workers that do not belong to the pass are ignored.
class PassExecution {
 public:
  /// Assigns the pass to all ranks, or to those observed; the team sets what differs between them. Throws Error.
  PassExecution(std::unique_ptr<WorkerTeam> team, const protocol::Assignment& assignment, const PassLimits& limits,
                const Scratch& scratch, ProgressMeter& meter, const ObservedProgram& program = {});
  PassExecution(const PassExecution&) = delete;
  PassExecution& operator=(const PassExecution&) = delete;

  /// Whether a process of the observed program takes part, which has not connected yet. If the program turns out to
  /// have ranks, they take the place of its single process, unless that one has been measured.
  bool admits(const protocol::Hello& hello, const std::function<std::unique_ptr<RankProcess>(int)>& process_of);
  void connected(WorkerId worker, const protocol::Hello& hello);
  /// Throws Error if a worker does not send such frames.
  void received(WorkerId worker, Frame& frame);
  void closed(WorkerId worker, const std::string& error_message);
  /// Whether the rank has nothing left to do in this pass.
  bool has_reported(int rank) const;
  /// Checks for ended processes, memory use and the deadlines.
  void tick(double now_s);
  void cancel(const std::string& signal_name);
  /// Kills all workers.
  void cancel_at_once();

  bool done() const { return state_->done(); }
  /// True if a reused worker ended before it started this pass, which says nothing about the run.
  bool died_untouched() const;
  /// Returns the final state; events no longer change it.
  PassState finish() { return *std::exchange(state_, std::nullopt); }

  WorkerTeam& team() { return *team_; }
  std::unique_ptr<WorkerTeam> take_team() { return std::move(team_); }
  /// Starts to transfer the output of the pass from other machines.
  void collect();
  bool collected();
  /// Adds a row for each rank, its rank file, and the processes that ended workers had detached.
  void add_results(const PassState& result, ExecutedRun& executed);
  std::pair<std::int64_t, measure::Pass> identity() const { return {run_id_, pass_}; }
  bool has_found_ranks() const { return processes_ == ObservedProcesses::kRanks; }
  /// Processes that became ranks of the program after others that are observed.
  int late_ranks() const { return late_ranks_; }
  /// The outcome if a rank was lost after it had reported one: its measurements are lost too.
  std::optional<Outcome> lost_measurements();

 private:
  void begin();
  void apply(const Actions& actions);
  void watch(double now_s);
  bool takes_part(int rank) const;
  /// Makes the rank file of a process that was killed before it wrote it.
  void recover(int rank, const std::filesystem::path& file);

  std::unique_ptr<WorkerTeam> team_;
  const Scratch& scratch_;
  ProgressMeter& meter_;
  protocol::Assignment assignment_;  // without what differs between the ranks
  PassLimits limits_;
  std::int64_t run_id_;
  measure::Pass pass_;
  ObservedProcesses processes_;
  std::vector<int> observed_ranks_;  // empty: all
  int late_ranks_ = 0;               // that were not admitted
  std::optional<PassState> state_;
};

}  // namespace kymo::supervisor
