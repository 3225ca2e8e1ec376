// SPDX-License-Identifier: Apache-2.0
#include "collect/event_log/call_clock.hpp"

#include <fstream>
#include <optional>
#include <string>

namespace kymo::collect {
namespace {

constexpr int kAttempts = 32;

/// The kernel takes the counter for its clock only if it runs at one rate, never stops and agrees between processors;
/// then the clock is a straight line of the counter.
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
