// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "measure/plan.hpp"

/// Timings of the time pass (Method::timing): how steps are placed between clock readings.
namespace kymo::measure {

inline constexpr const char* kSyncTiming = "sync";  ///< each step ends with a synchronization
inline constexpr const char* kHotTiming =
    "hot";  ///< several steps between two events; the stream is blocked until they are queued
inline constexpr const char* kColdTiming =
    "cold";  ///< caches are flushed before each step; the stream is blocked until the step's work is queued

/// Validates the name of a timing and returns it. Throws UsageError that lists the valid names.
std::string timing_from(const std::string& text);

/// Properties of a workload that a timing depends on.
struct StepProperties {
  std::size_t phases = 0;  ///< number of declared phases; the phases that a step enters are known only at run time
  bool asynchronous = false;
};

/// Returns a one-line reason why the case cannot be timed with the method's timing, or an empty string if it can.
std::string timing_error(const Method& method, const Case& what, const StepProperties& step);

}  // namespace kymo::measure
