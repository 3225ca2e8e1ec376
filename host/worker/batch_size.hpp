// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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

}  // namespace kymo::worker
