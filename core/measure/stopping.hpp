// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "measure/plan.hpp"

namespace kymo::measure {

/// Evaluates a stopping rule on the measured steps of a pass. Constant time and memory per step.
class Stopping {
 public:
  explicit Stopping(const StoppingRule& rule) : rule_(rule) {}

  /// Adds a measured step. Do not add warm-up steps.
  void add(double step_ns) {
    ++count_;
    const double distance = step_ns - mean_ns_;
    mean_ns_ += distance / static_cast<double>(count_);
    squares_ns2_ += distance * (step_ns - mean_ns_);
  }

  /// Returns the standard error of the mean divided by the mean, or infinity for fewer than two steps or a mean of 0.
  double relative_standard_error() const {
    if (count_ < 2 || mean_ns_ == 0) return std::numeric_limits<double>::infinity();
    const double count = static_cast<double>(count_);
    const double standard_error = std::sqrt(squares_ns2_ / (count - 1) / count);
    return standard_error / std::abs(mean_ns_);
  }

  /// Returns true if the mean is precise enough after the minimum number of samples, or if the maximum number of
  /// samples or time is reached. The maxima take precedence over the minimum, but at least one step is always measured.
  bool enough(double elapsed_s) const {
    if (count_ < 1) return false;
    if (count_ >= rule_.max_samples || elapsed_s >= rule_.max_seconds) return true;
    return count_ >= rule_.min_samples && relative_standard_error() <= rule_.relative_standard_error;
  }

 private:
  StoppingRule rule_;
  std::int64_t count_ = 0;
  double mean_ns_ = 0;
  double squares_ns2_ = 0;  // sum of squared deviations from the mean (Welford)
};

}  // namespace kymo::measure
