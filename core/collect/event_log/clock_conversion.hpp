// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace kymo::collect {

/// The same moment on two clocks, in nanoseconds.
struct ClockPair {
  std::int64_t host_ns = 0;
  std::int64_t clock_ns = 0;
  std::int64_t error_ns = 0;  ///< bound on the error of host_ns
};

/// Reads the other clock between two readings of the host clock, `attempts` times, and returns the attempt with the
/// shortest interval (Cristian's algorithm). Returns nullopt if the other clock cannot be read.
std::optional<ClockPair> compare_clocks(int attempts, const std::function<std::int64_t()>& host,
                                        const std::function<std::optional<std::int64_t>()>& clock);

/// Converts times of another clock to the host clock, by the line through two comparisons, which is also extrapolated.
class ClockConversion {
 public:
  /// Identity: both clocks agree.
  ClockConversion() = default;
  /// One comparison: a constant offset.
  explicit ClockConversion(const ClockPair& at) : begin_(at) {}
  /// Two comparisons. If they are not increasing on both clocks, only the first one is used.
  ClockConversion(const ClockPair& begin, const ClockPair& end);

  std::int64_t host_ns(std::uint64_t clock_ns) const {
    const std::int64_t since = static_cast<std::int64_t>(clock_ns) - begin_.clock_ns;
    // The drift is a few parts per million. Applying it as a correction preserves whole nanoseconds; scaling the whole
    // time would not.
    return begin_.host_ns + since + static_cast<std::int64_t>(static_cast<double>(since) * drift_);
  }

 private:
  ClockPair begin_;
  double drift_ = 0;  // additional nanoseconds of the host clock per nanosecond of the other clock
};

}  // namespace kymo::collect
