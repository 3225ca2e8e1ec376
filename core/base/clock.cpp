// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <array>
#include <cstdio>
#include <ctime>

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

}  // namespace kymo
