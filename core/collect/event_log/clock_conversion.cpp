// SPDX-License-Identifier: Apache-2.0
#include "collect/event_log/clock_conversion.hpp"

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

std::optional<ClockPair> compare_clocks(int attempts, const std::function<std::int64_t()>& host,
                                        const std::function<std::optional<std::int64_t>()>& clock) {
  std::optional<ClockPair> best;
  std::int64_t narrowest_ns = 0;
  for (int i = 0; i < attempts; ++i) {
    const std::int64_t before_ns = host();
    const std::optional<std::int64_t> clock_ns = clock();
    const std::int64_t width_ns = host() - before_ns;
    if (!clock_ns) continue;
    if (best && width_ns >= narrowest_ns) continue;
    narrowest_ns = width_ns;
    best = ClockPair{before_ns + width_ns / 2, *clock_ns, (width_ns + 1) / 2};
  }
  return best;
}

ClockConversion::ClockConversion(const ClockPair& begin, const ClockPair& end) : begin_(begin) {
  const std::int64_t host_span_ns = end.host_ns - begin.host_ns;
  const std::int64_t clock_span_ns = end.clock_ns - begin.clock_ns;
  if (host_span_ns <= 0 || clock_span_ns <= 0) return;
  drift_ = static_cast<double>(host_span_ns - clock_span_ns) / static_cast<double>(clock_span_ns);
}

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
