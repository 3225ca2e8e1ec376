// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace kymo::collect {

/// Steps after each of which the allocator is read even if readings may take a share of the time only: those in which
/// it usually grows.
constexpr std::int64_t kFirstSteps = 10;

/// When a reading between two steps is due: at most once in 50 ms, and rarely enough that readings take their
/// share of the time at most.
class ReadingInterval {
 public:
  /// The next reading is due at once. `share`: PassSetting::reading_share.
  void restart(std::int64_t share) {
    share_ = share;
    next_ns_ = 0;
  }
  bool is_due(std::int64_t now_ns) const { return now_ns >= next_ns_; }
  /// Call it after each reading, with its begin and end.
  void taken(std::int64_t begin_ns, std::int64_t end_ns) {
    next_ns_ = begin_ns + std::max(kMinimumNs, share_ * (end_ns - begin_ns));
  }

 private:
  static constexpr std::int64_t kMinimumNs = 50'000'000;

  std::int64_t share_ = 0;
  std::int64_t next_ns_ = 0;
};

}  // namespace kymo::collect
