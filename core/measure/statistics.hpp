// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace kymo::measure {

/// Summary statistics of samples, in the unit of the samples.
struct Statistics {
  std::int64_t count = 0;
  double mean = 0;
  std::optional<double> std;  ///< sample standard deviation (n − 1); empty for one sample
  double median = 0;
  double min = 0;
  double max = 0;
  std::optional<double> ci_low;  ///< 95 % confidence interval of the mean, Student's t; empty for one sample
  std::optional<double> ci_high;
  std::optional<double> p95;  ///< requires at least 100 samples
};

/// Throws Error if there are no samples.
Statistics summarize(std::vector<double> samples);

/// Returns the standard error of the mean divided by the mean, or infinity for fewer than two samples or a mean of 0.
double relative_standard_error(const std::vector<double>& samples);

}  // namespace kymo::measure
