// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
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

/// Returns the median of at least one value and reorders the values. For an even count it is the mean of the two middle
/// values, rounded down for integers.
template <typename T>
T median(std::vector<T>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const T below = *std::max_element(values.begin(), middle);
  return below + (*middle - below) / 2;
}

}  // namespace kymo::measure
