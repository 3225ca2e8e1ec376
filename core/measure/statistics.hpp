// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "event/records.hpp"
#include "measure/plan.hpp"

/// Statistics of samples, when enough have been measured, and which of them a throttled GPU slowed down.

namespace kymo::measure {

/// Summary statistics of samples, in the unit of the samples.
struct Statistics {
  std::int64_t count = 0;
  double mean = 0;
  std::optional<double> std;  ///< sample standard deviation (n − 1); empty for one sample
  double median = 0;
  double min = 0;
  double max = 0;
  std::optional<double> ci_low;  ///< 95 % confidence interval of the mean (mean_interval()); empty for one sample
  std::optional<double> ci_high;
  std::optional<double> mean_half_width;  ///< half of its width, as mean_interval() returns it
  std::int64_t block = 1;                 ///< samples per block of this interval
  std::optional<double> p95;              ///< requires at least 100 samples
  std::optional<double> median_low;  ///< confidence interval of the median (median_interval()); empty for one sample
  std::optional<double> median_high;
  std::optional<double> median_confidence;  ///< its coverage, at least 0.95 from six samples on
};

/// Which order statistics bound the median.
struct MedianInterval {
  std::size_t low = 0;  ///< index into the sorted samples
  std::size_t high = 0;
  double confidence = 0;  ///< probability that they enclose the median of the distribution
};

/// Returns the distribution-free confidence interval of the median of `count` independent samples: the narrowest pair
/// of symmetric order statistics that encloses the median with a probability of at least 95 %. Below six samples not
/// even the smallest and the largest do; they are returned with the probability that they have. `count` is at least 2.
///
/// H. A. David and H. N. Nagaraja, Order Statistics, 3rd edition, 2003, section 7.1.
MedianInterval median_interval(std::size_t count);

/// Summarizes samples in the order in which they were measured. Throws Error if there are none.
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

/// Evaluates a stopping rule on the measured steps of a pass. Constant time and memory per step.
class Stopping {
 public:
  explicit Stopping(const StoppingRule& rule) : rule_(rule) {}

  /// Adds a measured step, or the time per step of a batch that took `measured_ns`. Do not add warm-up steps.
  void add(double step_ns, double measured_ns) {
    ++count_;
    measured_ns_ += measured_ns;
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

  std::int64_t count() const { return count_; }

  /// Returns true if the mean is as precise as the rule asks.
  bool is_precise() const {
    return !rule_.relative_standard_error || relative_standard_error() <= *rule_.relative_standard_error;
  }

  /// Returns true if the rule ends the measurement `elapsed_s` after its begin. At least one step is always measured.
  bool enough(double elapsed_s) const {
    if (count_ < 1) return false;
    if (count_ >= rule_.max_samples) return true;
    if (count_ < rule_.min_samples) return false;
    return elapsed_s >= rule_.max_seconds || (measured_ns_ >= rule_.min_seconds * kNsPerS && is_precise());
  }

 private:
  StoppingRule rule_;
  std::int64_t count_ = 0;
  double measured_ns_ = 0;
  double mean_ns_ = 0;
  double squares_ns2_ = 0;  // sum of squared deviations from the mean (Welford)
};

/// NVML throttle reasons for thermal and hardware slowdown. The software power cap is excluded, because it is part of
/// normal operation.
inline constexpr std::int64_t kHardwareSlowdown = 0x8;
inline constexpr std::int64_t kSoftwareThermalSlowdown = 0x20;
inline constexpr std::int64_t kHardwareThermalSlowdown = 0x40;
inline constexpr std::int64_t kHardwarePowerBrake = 0x80;

/// Fraction of the usual clock below which the GPU counts as throttled.
inline constexpr double kUsualClockShare = 0.75;

/// Returns the steps, in ascending order, whose sample shows a thermal or hardware slowdown, or an SM clock below 75 %
/// of the median of `readings`.
std::vector<std::int64_t> throttled_readings(const std::vector<event::GpuSample>& readings);

/// Sets Sample::throttled from GPU samples sorted by step. There may be fewer GPU samples than steps: each step uses
/// the first one taken at or after it, otherwise the last one. Without GPU samples no step is throttled.
void mark_throttled(std::vector<event::Sample>& samples, const std::vector<event::GpuSample>& readings);

}  // namespace kymo::measure
