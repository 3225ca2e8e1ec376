// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/step_driver.hpp"

namespace kymo::worker {

/// Determines the number of steps per batch in timing hot: enough that a batch takes a millisecond, at most a thousand.
class BatchSize {
 public:
  static constexpr std::int64_t kLongEnoughNs = 1'000'000;
  static constexpr std::int64_t kMaxSteps = 1000;

  /// Number of steps of the next batch.
  std::int64_t steps() const { return steps_; }
  bool found() const { return found_; }

  /// Reports the time of a batch of steps(), in ns. The first call is ignored, because the first batch may include
  /// setup.
  void measured(std::int64_t elapsed_ns);

  /// Called when the device could not enqueue a batch as a whole: reduces the batch to a fourth. Returns false if the
  /// batch is a single step.
  bool shrink();

 private:
  std::int64_t steps_ = 1;
  bool is_first_ = true;
  bool found_ = false;
};

/// Timing hot: times batches of steps between two clock readings; each batch is one sample and counts as one step.
/// Blocks the phase's stream until all work of the batch is enqueued. Warm-up steps run individually and without
/// blocking.
class BatchedSteps final : public StepDriver {
 public:
  using StepDriver::StepDriver;

  void begin() override;
  /// Finds the size of a batch and, on a device, one that can be enqueued while the stream is blocked, if there is one.
  bool settle() override;
  bool run(const NextSteps& next, StepLog& log) override;
  void add_records(event::PassRecord& record, std::optional<std::int64_t> step_ns) const override;

 protected:
  bool time(std::int64_t step) override;
  kymo_status call() override;

 private:
  bool settle_blocking();

  BatchSize batch_;
  bool blocks_ = false;            // the stream, until the work of a batch is enqueued
  bool released_in_time_ = true;   // whether it was in the last interval
  std::int64_t late_batches_ = 0;  // batches released before all their work was enqueued
};

}  // namespace kymo::worker
