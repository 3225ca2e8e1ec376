// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "measure/pace.hpp"
#include "supervisor/steady_seconds.hpp"

namespace kymo::supervisor {

/// How long all runs of an invocation may take together, by the clock of steady_seconds().
class TimeLimit {
 public:
  TimeLimit() = default;
  /// In seconds from now on; 0 means no limit.
  explicit TimeLimit(double max_time_s) : TimeLimit(max_time_s, steady_seconds()) {}
  TimeLimit(double max_time_s, double begin_s)
      : max_time_s_(max_time_s), end_s_(max_time_s > 0 ? begin_s + max_time_s : HUGE_VAL) {}

  /// Infinite without a limit.
  double left_s(double now_s) const { return end_s_ - now_s; }
  /// Why a run was skipped, for messages; `detail` says what would have exceeded the limit, or is empty.
  std::string no_time_left(const std::string& detail = "") const {
    return "no time left: " + (detail.empty() ? "" : detail + "; ") + "all runs together may take " +
           measure::time_text(max_time_s_) + " (--max-time)";
  }

 private:
  double max_time_s_ = 0;
  double end_s_ = HUGE_VAL;
};

}  // namespace kymo::supervisor
