// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "measure/stopping.hpp"
#include "worker/batch_size.hpp"
#include "worker/host_cache.hpp"
#include "worker/pass_run.hpp"
#include "worker/step_log.hpp"

namespace kymo::worker {

/// Warm-up and measured steps of a pass.
///
/// Mode hot makes batches of steps between two readings of the clocks; each batch is one sample, counted as a step.
/// Mode cold flushes the caches before each step. Both hold the stream of the phase until all its work is queued.
/// Warm-up steps are made singly and are not held.
class StepLoop {
 public:
  /// Throws std::bad_alloc if the memory that flushes the CPU's cache cannot be had.
  explicit StepLoop(PassRun& pass);

  /// Makes the steps; false if the pass ended before its time. Completed steps stay in the log either way.
  bool run();
  const StepLog& log() const { return log_; }
  /// In mode hot: how many steps each measured sample stands for, and what was not held.
  void add_metrics(event::PassRecord& record) const;

 private:
  struct Stretch {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };

  bool is_warmup(std::int64_t step) const { return step < warmup_; }
  bool enough() const;
  /// What a mode needs before its first measured step: unstored steps that find the size of a batch, or set up what the
  /// first step sets up.
  bool settle();
  /// Finds a batch that can be queued while its stream is held, if there is one.
  bool settle_hold();
  bool make_unstored(std::int64_t steps, bool hold, Stretch& stretch);
  /// Untimed: what the workload does before a step, and the barrier. Sets `stop` if the ranks agreed to end.
  bool prepare_step(bool& stop);
  bool timed_step(std::int64_t step);
  /// `count` steps in one timed stretch.
  bool make_steps(std::int64_t step, std::int64_t count, bool hold, Stretch& stretch);
  kymo_status call_steps(std::int64_t count);
  /// After a step that went well: false if the stream was not held as it should have been.
  bool was_held(bool hold);
  void keep(std::int64_t step, std::int64_t count, const Stretch& stretch);

  PassRun& pass_;
  StepLog log_;
  std::int64_t warmup_;
  std::int64_t planned_;  // warm-up included; 0 if the stopping rule decides
  bool hot_;
  bool cold_;
  BatchSize batch_;
  bool hold_batches_ = false;            // hot on a device
  bool released_in_time_ = true;         // the last stretch, if it was held
  std::int64_t late_batches_ = 0;        // that were let go before all their work was queued
  std::optional<HostCache> host_cache_;  // cold on a CPU
  std::optional<measure::Stopping> stopping_;
  std::int64_t measuring_since_ns_ = 0;
  std::vector<std::int64_t> device_ns_;  // by phase
};

}  // namespace kymo::worker
