// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kymo::worker {

/// Finds how many steps a batch of mode hot has: so many that it lasts a millisecond, and at most a thousand.
class BatchSize {
 public:
  static constexpr std::int64_t kLongEnoughNs = 1'000'000;
  static constexpr std::int64_t kMostSteps = 1000;

  /// Steps of the next batch.
  std::int64_t steps() const { return steps_; }
  bool found() const { return found_; }

  /// Tells how long a batch of steps() took, in ns. The first one decides nothing: it may have set things up.
  void measured(std::int64_t elapsed_ns);

  /// After a batch that the device could not take in as a whole: a fourth of it from now on; false if it is a single
  /// step.
  bool shrink();

 private:
  std::int64_t steps_ = 1;
  bool is_first_ = true;
  bool found_ = false;
};

}  // namespace kymo::worker
