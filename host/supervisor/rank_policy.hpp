// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "supervisor/pass_execution.hpp"
#include "supervisor/worker_process.hpp"

namespace kymo::supervisor {

/// What the processes of a pass need of the supervisor. This is the policy of workers; an observed program, which takes
/// the place of the worker, has its own (program_policy.hpp).
class RankPolicy {
 public:
  virtual ~RankPolicy() = default;

  virtual void adapt(PassLimits&, protocol::Assignment&) const {}
  /// The process of a rank that the process of rank 0 starts by itself; nullptr: the supervisor starts one.
  virtual std::unique_ptr<RankProcess> process_of(int /*rank*/) { return nullptr; }
  virtual void started(LocalProcess&) {}
  virtual bool admits(PassExecution&, const protocol::Hello&) { return true; }
  /// The process that has the terminal and gets the signals of the supervisor, which otherwise end the run after the
  /// current step; nullptr: none.
  virtual LocalProcess* foreground() { return nullptr; }
  /// The outcome of the pass. May wait until the processes have ended.
  virtual Outcome verdict(const PassState& result, WorkerTeam&) const { return result.verdict(); }
  virtual void add_results(PassExecution&, ExecutedRun&) const {}
};

}  // namespace kymo::supervisor
