// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "measure/plan.hpp"

/// How the time pass puts steps between two readings of a clock: Method::mode.
namespace kymo::measure {

inline constexpr const char* kSyncMode = "sync";  ///< each step ends synchronised
inline constexpr const char* kHotMode =
    "hot";  ///< several steps between two events, the stream held until they are queued
inline constexpr const char* kColdMode =
    "cold";  ///< caches flushed before each step, and the stream held until its work is queued

/// The word itself. Throws UsageError naming the admitted ones.
std::string mode_from(const std::string& word);

/// What a mode asks of a workload.
struct StepNature {
  std::size_t phases = 0;  ///< declared; which of them a step enters is seen when it runs
  bool asynchronous = false;
};

/// Why the case cannot be timed in the method's mode, in one line; empty if it can.
std::string mode_objection(const Method& how, const Case& what, const StepNature& step);

}  // namespace kymo::measure
