// SPDX-License-Identifier: Apache-2.0
#include "collect/event_log/call_clock.hpp"

#include <fstream>
#include <optional>
#include <string>

namespace kymo::collect {
namespace {

constexpr int kAttempts = 32;

/// The kernel uses the time stamp counter as its clock source only if the counter has a constant rate, never stops and
/// is synchronized between processors. The clock is then a linear function of the counter.
bool system_counts_ticks() {
#ifdef __x86_64__
  std::ifstream source("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return source >> name && name == "tsc";
#else
  return false;
#endif
}

}  // namespace

CallClock::CallClock() : counts_(system_counts_ticks()) {
  if (counts_) begin_ = compare();
}

void CallClock::finish() {
  if (counts_) conversion_ = ClockConversion(begin_, compare());
}

ClockPair CallClock::compare() const {
  return compare_clocks(kAttempts, now_ns, [this]() -> std::optional<std::int64_t> { return read(); }).value();
}

}  // namespace kymo::collect
