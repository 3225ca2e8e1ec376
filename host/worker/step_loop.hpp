// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "measure/stopping.hpp"
#include "worker/pass_run.hpp"
#include "worker/step_log.hpp"

namespace kymo::worker {

/// Warm-up and measured steps of a pass.
class StepLoop {
 public:
  explicit StepLoop(PassRun& pass);

  /// Makes the steps; false if the pass ended before its time. Completed steps stay in the log either way.
  bool run();
  const StepLog& log() const { return log_; }

 private:
  bool is_warmup(std::int64_t step) const { return step < warmup_; }
  bool enough() const;
  /// Untimed: what the workload does before a step, and the barrier. Sets `stop` if the ranks agreed to end.
  bool prepare_step(bool& stop);
  bool timed_step(std::int64_t step);
  void keep(std::int64_t step, std::int64_t begin_ns, std::int64_t end_ns);

  PassRun& pass_;
  StepLog log_;
  std::int64_t warmup_;
  std::int64_t planned_;  // warm-up included; 0 if the stopping rule decides
  std::optional<measure::Stopping> stopping_;
  std::int64_t measuring_since_ns_ = 0;
  std::vector<std::int64_t> device_ns_;  // by phase
};

}  // namespace kymo::worker
