// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "base/clock.hpp"
#include "collect/event_log/clock_conversion.hpp"

namespace kymo::collect {

/// The host's clock for what happens too often to ask the system each time: the processor's own counter, where that is
/// what the system makes its clock of, put on the host's clock afterwards. A reading costs half as much or less.
/// Elsewhere the host's clock itself.
class CallClock {
 public:
  /// Compares the clocks; outside timed stretches.
  CallClock();

  /// Any thread. To be understood by host_ns() of the same object.
  std::int64_t read() const noexcept {
#ifdef __x86_64__
    if (counts_) return static_cast<std::int64_t>(__rdtsc());
#endif
    return now_ns();
  }
  /// Compares the clocks again: readings since the first comparison lie on the line through both.
  void finish();
  /// After finish().
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
