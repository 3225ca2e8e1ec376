// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace kymo::measure {

/// Summary of samples of one quantity, in the samples' unit.
struct Statistics {
  std::int64_t count = 0;
  double mean = 0;
  std::optional<double> std;  ///< sample standard deviation (n − 1); absent for one sample
  double median = 0;
  double min = 0;
  double max = 0;
  std::optional<double> ci_low;  ///< 95 % confidence interval of the mean, Student's t; absent for one sample
  std::optional<double> ci_high;
  std::optional<double> p95;  ///< from 100 samples on
};

/// Throws Error if there are no samples.
Statistics summarize(std::vector<double> samples);

/// Standard error of the mean over the mean; infinity for fewer than two samples or a mean of zero.
double relative_standard_error(const std::vector<double>& samples);

}  // namespace kymo::measure
