// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "measure/protocol.hpp"
#include "worker/control_client.hpp"
#include "worker/workload_instance.hpp"

namespace kymo::worker {

/// Stage, step and outcome of a pass, as the supervisor learns them. Functions that can end the pass return false once
/// it has ended.
class PassProgress {
 public:
  PassProgress(WorkloadInstance& workload, ControlClient& control, measure::DeviceKind device)
      : workload_(workload), control_(control), device_(device) {}

  /// Sends a message and polls for a cancellation at most 4 times per second, because each system call between two
  /// steps delays them.
  void spare_system_calls();
  /// Whether should_continue() is to be called at each step, and not only when the step was announced.
  bool polls_each_step() const { return polls_each_step_; }

  /// Tells the supervisor that a stage or step begins: immediately for a new stage, otherwise at most about 20 times
  /// per second. Returns true if it was told.
  bool announce(const char* stage, std::int64_t step = -1, std::int64_t steps = 0);

  /// Evaluates the status of a call into the plugin in the most recently announced stage and step.
  bool check_call(kymo_status status);
  /// Ends the pass if the clock went backwards during a step.
  bool check_clock(std::int64_t step_ns);
  /// Ends the pass if the supervisor has cancelled the run.
  bool should_continue();
  /// Waits for all ranks. `stop` is that of rank 0, before and after.
  bool barrier(bool& stop);

  /// Ends the pass; of several failures, the last one is the outcome. Returns false.
  bool end(measure::RunStatus status, const std::string& detail);
  /// Ends the pass as skipped, before its last step. The workload sees the run as cancelled, so that it does not judge
  /// what it has not completed, such as a training. Returns false.
  bool give_up(const std::string& detail);
  /// Replaces the outcome without ending the pass.
  void set_outcome(measure::Outcome outcome) { outcome_ = std::move(outcome); }
  const measure::Outcome& outcome() const { return outcome_; }

 private:
  WorkloadInstance& workload_;
  ControlClient& control_;
  measure::DeviceKind device_;
  std::int64_t beat_interval_ns_ = 50'000'000;
  bool polls_each_step_ = true;
  measure::Outcome outcome_;
  const char* stage_ = "load";
  std::int64_t step_ = -1;
  std::int64_t next_beat_ns_ = 0;
};

}  // namespace kymo::worker
