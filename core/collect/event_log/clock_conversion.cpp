// SPDX-License-Identifier: Apache-2.0
#include "collect/event_log/clock_conversion.hpp"

namespace kymo::collect {

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

}  // namespace kymo::collect
