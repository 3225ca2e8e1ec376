// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "base/clock.hpp"
#include "collect/event_log/clock_conversion.hpp"

namespace kymo::collect {

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
