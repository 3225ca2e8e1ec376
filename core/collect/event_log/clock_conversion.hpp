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

/// Reads the other clock between two readings of the host's, `attempts` times, and keeps the attempt whose two readings
/// lie nearest together (as in Cristian's algorithm); nothing if the other clock cannot be read.
std::optional<ClockPair> compare_clocks(int attempts, const std::function<std::int64_t()>& host,
                                        const std::function<std::optional<std::int64_t>()>& clock);

/// Times of another clock on the host's: on the line through two comparisons, beyond them too.
class ClockConversion {
 public:
  /// Two clocks that agree.
  ClockConversion() = default;
  /// One comparison: a constant distance.
  explicit ClockConversion(const ClockPair& at) : begin_(at) {}
  /// Two comparisons; where they do not follow each other on both clocks the first one alone counts.
  ClockConversion(const ClockPair& begin, const ClockPair& end);

  std::int64_t host_ns(std::uint64_t clock_ns) const {
    const std::int64_t since = static_cast<std::int64_t>(clock_ns) - begin_.clock_ns;
    // The drift is a few millionths: as a correction it keeps whole nanoseconds, as a factor of the whole time it would
    // not.
    return begin_.host_ns + since + static_cast<std::int64_t>(static_cast<double>(since) * drift_);
  }

 private:
  ClockPair begin_;
  double drift_ = 0;  // by how much more the host's clock advances, per nanosecond of the other
};

}  // namespace kymo::collect
