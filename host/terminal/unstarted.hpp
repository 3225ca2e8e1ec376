// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/results.hpp"

namespace kymo::terminal {

/// Which planned runs to count; empty: all.
struct UnstartedFilter {
  std::optional<std::int64_t> invocation;
  std::string label, workload;
};

/// A line for each invocation with planned runs that were not started: how many, why, and what starts them. Empty if
/// there are none.
std::string unstarted_lines(const store::ResultsDatabase& database, const UnstartedFilter& filter);

}  // namespace kymo::terminal
