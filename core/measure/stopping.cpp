// SPDX-License-Identifier: Apache-2.0
#include "measure/stopping.hpp"

#include <cmath>
#include <limits>

namespace kymo::measure {

void Stopping::add(double step_ns) {
  ++count_;
  const double distance = step_ns - mean_ns_;
  mean_ns_ += distance / static_cast<double>(count_);
  squares_ns2_ += distance * (step_ns - mean_ns_);
}

double Stopping::relative_standard_error() const {
  if (count_ < 2 || mean_ns_ == 0) return std::numeric_limits<double>::infinity();
  const double count = static_cast<double>(count_);
  const double standard_error = std::sqrt(squares_ns2_ / (count - 1) / count);
  return standard_error / std::abs(mean_ns_);
}

bool Stopping::enough(double elapsed_s) const {
  if (count_ < 1) return false;
  if (count_ >= rule_.max_samples || elapsed_s >= rule_.max_seconds) return true;
  return count_ >= rule_.min_samples && relative_standard_error() <= rule_.relative_standard_error;
}

}  // namespace kymo::measure
