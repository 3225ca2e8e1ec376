// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "measure/plan.hpp"

namespace kymo::measure {

/// Returns a number of seconds for messages: "250 ms", "41 s", "1 min 25 s" or "2 h 5 min".
std::string time_text(double seconds);

/// Judges by the steps so far whether a pass can end within the method's `max_pass_time_s`. The estimate is a lower
/// bound: none of the remaining steps is faster than the fastest so far, and a stopping rule ends at its minimum number
/// of steps. So a slow first step, such as one that compiles, or a pause does not end a pass that fits.
class Pace {
 public:
  /// `method`: that of the pass (method_in), with a limit.
  explicit Pace(const Method& method);

  /// Adds a completed step.
  void add(double step_s);
  /// Returns why the pass cannot end in time, in one line with the measured time of a step. Empty while it can, and
  /// while the steps say too little: after a single step, or if they took less than a twentieth of the limit together.
  std::string problem() const;

 private:
  double limit_s_;
  std::int64_t steps_;  // of the whole pass, at least
  bool at_least_;       // a stopping rule may measure more
  std::int64_t done_ = 0;
  double total_s_ = 0;
  std::optional<double> fastest_s_;
};

}  // namespace kymo::measure
