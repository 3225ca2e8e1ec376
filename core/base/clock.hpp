// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kymo {

/// The host clock of every measurement: CLOCK_MONOTONIC_RAW in nanoseconds.
std::int64_t now_ns();

/// Wall-clock time as ISO 8601 in UTC with milliseconds, for people and for records.
std::string wall_time_utc();

}  // namespace kymo
