// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "measure/plan.hpp"

namespace kymo::measure {

/// Follows the measured steps of one pass and says when a stopping rule is met. Constant time and memory per step.
class Stopping {
 public:
  explicit Stopping(const StoppingRule& rule) : rule_(rule) {}

  /// Counts one measured step; warm-up steps do not belong here.
  void add(double step_ns);

  /// Standard error of the mean over the mean; infinity for fewer than two steps or a mean of zero.
  double relative_standard_error() const;

  /// True once the mean is known well enough with the least number of samples, or a cap on samples or time is reached.
  /// The caps win over the least number of samples, but one step is always measured.
  bool enough(double elapsed_s) const;

 private:
  StoppingRule rule_;
  std::int64_t count_ = 0;
  double mean_ns_ = 0;
  double squares_ns2_ = 0;  // sum of squared distances from the mean (Welford)
};

}  // namespace kymo::measure
