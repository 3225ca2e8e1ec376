// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "supervisor/rank_policy.hpp"
#include "supervisor/worker_pool.hpp"

namespace kymo::supervisor {

/// The policy of an observed program: it has all the time it takes, its own signals, and processes that it starts.
class ProgramPolicy final : public RankPolicy {
 public:
  /// `log_file`: written by the processes of the program.
  ProgramPolicy(const PlannedRun& run, WorkerPool& workers, const Scratch& scratch, std::filesystem::path log_file)
      : run_(run), workers_(workers), scratch_(scratch), log_file_(std::move(log_file)) {}

  void adapt(PassLimits& limits, protocol::Assignment& assignment) const override;
  std::unique_ptr<RankProcess> process_of(int rank) override;
  void started(LocalProcess& process) override { program_ = &process; }
  bool admits(PassExecution& execution, const protocol::Hello& hello) override;
  LocalProcess* foreground() override { return program_; }
  /// Waits until the program has ended.
  Outcome verdict(const PassState& result, WorkerTeam& team) const override;
  void add_results(PassExecution& execution, ExecutedRun& executed) const override;

 private:
  PlannedRun run_;  // a copy: the policy of a window is used until the next one begins
  WorkerPool& workers_;
  const Scratch& scratch_;
  std::filesystem::path log_file_;
  LocalProcess* program_ = nullptr;  // which the team of the pass owns
};

}  // namespace kymo::supervisor
