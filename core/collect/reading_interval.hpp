// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace kymo::collect {

/// Steps of an observed program after each of which the engine runs and the allocator is read: those in which it
/// usually grows.
constexpr std::int64_t kFirstSteps = 10;

/// When a reading between two steps is due: at most once in 50 ms. In an observed program, which waits for them,
/// readings also take at most 0.2 % of the time.
class ReadingInterval {
 public:
  /// The next reading is due at once.
  void restart(bool observes_program) {
    observes_program_ = observes_program;
    next_ns_ = 0;
  }
  bool is_due(std::int64_t now_ns) const { return now_ns >= next_ns_; }
  /// Call it after each reading, with its begin and end.
  void taken(std::int64_t begin_ns, std::int64_t end_ns) {
    next_ns_ = begin_ns + std::max(kMinimumNs, observes_program_ ? kMinTimesTheReading * (end_ns - begin_ns) : 0);
  }

 private:
  static constexpr std::int64_t kMinimumNs = 50'000'000;
  static constexpr std::int64_t kMinTimesTheReading = 500;

  bool observes_program_ = false;
  std::int64_t next_ns_ = 0;
};

}  // namespace kymo::collect
