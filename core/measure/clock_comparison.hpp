// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Comparing this process's clock with that of another one, by questions and answers.
namespace kymo::measure {

/// A question for the other's clock. Times are nanoseconds.
struct ClockReading {
  std::int64_t asked_ns = 0;     ///< on this clock
  std::int64_t answered_ns = 0;  ///< on this clock, when the answer had come
  std::int64_t clock_ns = 0;     ///< what the other clock said in between
};

/// A moment on both clocks.
struct ClockPair {
  std::int64_t host_ns = 0;   ///< on this clock
  std::int64_t clock_ns = 0;  ///< on the other
  std::int64_t error_ns = 0;  ///< bound on what the pair is off
};

/// Two processes of one boot of one machine share their clock, unless one lives in a time namespace: then the answer
/// does not lie between question and answer. True if it does in each reading.
bool is_same_clock(const std::vector<ClockReading>& readings);

/// The pair that the shortest of the readings gives: the other clock was read in the middle of it, give or take half
/// its length (F. Cristian, "Probabilistic clock synchronization", 1989). There must be a reading.
ClockPair closest_pair(const std::vector<ClockReading>& readings);

/// What the system calls its boot: the same for all its processes, and for no other machine. Empty if the system does
/// not tell.
std::string boot_id();

}  // namespace kymo::measure
