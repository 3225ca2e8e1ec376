// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "base/clock.hpp"

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

/// Host clock for frequent events. Reads the processor's time stamp counter if the kernel uses it as clock source, and
/// converts it to the host clock afterwards, which costs half as much or less per reading. Otherwise it reads the host
/// clock.
class CallClock {
 public:
  /// Compares the clocks. Call it outside of timed regions.
  CallClock();

  /// Returns a reading, to be converted by host_ns() of the same object. Any thread.
  std::int64_t read() const noexcept {
#ifdef __x86_64__
    if (counts_) return static_cast<std::int64_t>(__rdtsc());
#endif
    return now_ns();
  }
  /// Compares the clocks again. Readings are converted by the line through both comparisons.
  void finish();
  /// Converts a reading to host clock nanoseconds. Call it after finish().
  std::int64_t host_ns(std::int64_t reading) const noexcept {
    return counts_ ? conversion_.host_ns(static_cast<std::uint64_t>(reading)) : reading;
  }

 private:
  ClockPair compare() const;

  bool counts_;
  ClockPair begin_;
  ClockConversion conversion_;
};

}  // namespace kymo::collect
