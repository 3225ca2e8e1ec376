// SPDX-License-Identifier: Apache-2.0
#include "measure/clock_comparison.hpp"

#include <algorithm>
#include <fstream>

namespace kymo::measure {

bool is_same_clock(const std::vector<ClockReading>& readings) {
  return std::all_of(readings.begin(), readings.end(), [](const ClockReading& each) {
    return each.asked_ns <= each.clock_ns && each.clock_ns <= each.answered_ns;
  });
}

ClockPair closest_pair(const std::vector<ClockReading>& readings) {
  const auto length = [](const ClockReading& each) { return each.answered_ns - each.asked_ns; };
  const ClockReading& best =
      *std::min_element(readings.begin(), readings.end(),
                        [&](const ClockReading& a, const ClockReading& b) { return length(a) < length(b); });
  const std::int64_t half_ns = length(best) / 2;
  return {best.asked_ns + half_ns, best.clock_ns, half_ns + 1};  // + 1 because the division rounds down
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace kymo::measure
