// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "measure/plan.hpp"

/// Timing modes of the time pass (Method::mode): how steps are placed between clock readings.
namespace kymo::measure {

inline constexpr const char* kSyncMode = "sync";  ///< each step ends with a synchronization
inline constexpr const char* kHotMode =
    "hot";  ///< several steps between two events; the stream is blocked until they are queued
inline constexpr const char* kColdMode =
    "cold";  ///< caches are flushed before each step; the stream is blocked until the step's work is queued

/// Validates a mode name and returns it. Throws UsageError that lists the valid names.
std::string mode_from(const std::string& word);

/// Properties of a workload that a mode depends on.
struct StepNature {
  std::size_t phases = 0;  ///< number of declared phases; the phases that a step enters are known only at run time
  bool asynchronous = false;
};

/// Returns a one-line reason why the case cannot be timed in the method's mode, or an empty string if it can.
std::string mode_objection(const Method& how, const Case& what, const StepNature& step);

}  // namespace kymo::measure
