// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kymo {

/// The host clock for all measurements: CLOCK_MONOTONIC_RAW in nanoseconds.
std::int64_t now_ns();

/// Returns the UTC time in ISO 8601 format with milliseconds.
std::string wall_time_utc();

// Synchronization of this process's clock with a remote clock by request and response.

/// One request to the remote clock. Times are in nanoseconds.
struct ClockReading {
  std::int64_t asked_ns = 0;     ///< local time of the request
  std::int64_t answered_ns = 0;  ///< local time of the response
  std::int64_t clock_ns = 0;     ///< remote time in between
};

/// The same moment on both clocks.
struct ClockPair {
  std::int64_t host_ns = 0;   ///< local clock
  std::int64_t clock_ns = 0;  ///< remote clock
  std::int64_t error_ns = 0;  ///< bound on the error of the pair
};

/// Returns true if every remote time lies between its request and response. Processes of the same boot of a host share
/// the clock, except in a time namespace, where this test fails.
bool is_same_clock(const std::vector<ClockReading>& readings);

/// Returns the pair of the reading with the shortest round trip: the remote clock was read at its midpoint, with an
/// error of at most half its duration (F. Cristian, "Probabilistic clock synchronization", 1989). `readings` must not
/// be empty.
ClockPair closest_pair(const std::vector<ClockReading>& readings);

/// Returns the kernel's boot id, which is unique to a boot of a host. Empty if it is not available.
std::string boot_id();

}  // namespace kymo
