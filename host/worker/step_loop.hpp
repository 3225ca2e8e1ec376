// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "measure/stopping.hpp"
#include "worker/batch_size.hpp"
#include "worker/host_cache.hpp"
#include "worker/pass_run.hpp"
#include "worker/step_log.hpp"

namespace kymo::worker {

/// Runs the warm-up steps and the measured steps of a pass.
///
/// Timing hot times batches of steps between two clock readings; each batch is one sample and counts as one step.
/// Timing cold flushes the caches before each step. Both block the phase's stream until all its work is enqueued.
/// Warm-up steps run individually and without blocking.
class StepLoop {
 public:
  /// Throws std::bad_alloc if the memory for flushing the CPU cache cannot be allocated.
  explicit StepLoop(PassRun& pass);

  /// Runs the steps; false if the pass ended early. Completed steps remain in the log in both cases.
  bool run();
  const StepLog& log() const { return log_; }
  /// In timing hot: adds the number of steps per sample and the number of batches that were not held.
  void add_metrics(event::PassRecord& record) const;

 private:
  struct Span {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };

  bool is_warmup(std::int64_t step) const { return step < warmup_; }
  bool enough() const;
  /// Runs unrecorded steps before the first measured step, as required by the timing: to determine the batch size, or
  /// to complete first-step initialization.
  bool settle();
  /// Finds a batch size that can be enqueued while the stream is blocked, if there is one.
  bool settle_hold();
  bool run_unrecorded_steps(std::int64_t steps, bool hold, Span& span);
  /// Untimed: the workload's before_step() and the barrier. Sets `stop` if the ranks agreed to stop.
  bool prepare_step(bool& stop);
  bool timed_step(std::int64_t step);
  /// Runs `count` steps in one timed interval.
  bool run_steps(std::int64_t step, std::int64_t count, bool hold, Span& span);
  kymo_status call_steps(std::int64_t count);
  /// Called after a successful step: false if the stream was not held as required.
  bool was_held(bool hold);
  void keep(std::int64_t step, std::int64_t count, const Span& span);

  PassRun& pass_;
  StepLog log_;
  std::int64_t warmup_;
  std::int64_t planned_;  // including warm-up; 0 if a stopping rule decides
  bool hot_;
  bool cold_;
  BatchSize batch_;
  bool hold_batches_ = false;            // timing hot on a device
  bool released_in_time_ = true;         // whether the last timed interval was released in time, if it was held
  std::int64_t late_batches_ = 0;        // batches released before all their work was enqueued
  std::optional<HostCache> host_cache_;  // timing cold on a CPU
  std::optional<measure::Stopping> stopping_;
  std::int64_t measuring_since_ns_ = 0;
  std::vector<std::int64_t> device_ns_;  // by phase
};

}  // namespace kymo::worker
