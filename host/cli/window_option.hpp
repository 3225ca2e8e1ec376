// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/plan.hpp"
#include "supervisor/runs.hpp"

namespace kymo::cli {

/// Steps before a window that are observed as well, because the first ones allocate the memory of the collectors.
inline constexpr std::int64_t kWarmupSteps = 3;

/// The windows of a program that `--steps` states.
struct WindowOption {
  /// In ascending order. The last one may have no end: its length is kMaxFreeSteps.
  std::vector<supervisor::Window> windows;
  std::int64_t period = 0;  ///< steps after which the only window is repeated; 0: it is not
};

/// Reads "10:20", "10:", "100:110,1000:1010" or "every 500 for 5". Throws UsageError.
WindowOption windows_from(const std::string& text);

}  // namespace kymo::cli
