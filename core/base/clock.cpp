// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>

namespace kymo {

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::string wall_time_utc() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  tm utc{};
  gmtime_r(&t.tv_sec, &utc);
  std::array<char, 40> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s.%03ldZ", date.data(), t.tv_nsec / 1'000'000);
  return text.data();
}

bool is_same_clock(const std::vector<ClockReading>& readings) {
  return std::ranges::all_of(readings, [](const ClockReading& each) {
    return each.asked_ns <= each.clock_ns && each.clock_ns <= each.answered_ns;
  });
}

ClockPair closest_pair(const std::vector<ClockReading>& readings) {
  const auto length = [](const ClockReading& each) { return each.answered_ns - each.asked_ns; };
  const ClockReading& best = *std::ranges::min_element(readings, {}, length);
  const std::int64_t half_ns = length(best) / 2;
  return {best.asked_ns + half_ns, best.clock_ns, half_ns + 1};  // + 1 because the division rounds down
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace kymo
