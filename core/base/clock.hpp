// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kymo {

/// The host clock for all measurements: CLOCK_MONOTONIC_RAW in nanoseconds.
std::int64_t now_ns();

/// Returns the UTC time in ISO 8601 format with milliseconds.
std::string wall_time_utc();

}  // namespace kymo
