// SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "measure/mean_interval.hpp"

namespace kymo::measure {
namespace {

constexpr std::int64_t kSamplesForP95 = 100;
constexpr double kConfidence = 0.95;

/// Linear interpolation between order statistics (type 7 of Hyndman and Fan, NumPy's default). `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

constexpr std::int64_t kSlowdownBits =
    kHardwareSlowdown | kSoftwareThermalSlowdown | kHardwareThermalSlowdown | kHardwarePowerBrake;

std::optional<double> usual_clock_mhz(const std::vector<event::GpuSample>& readings) {
  std::vector<double> clocks;
  for (const auto& reading : readings)
    if (reading.sm_clock_mhz) clocks.push_back(static_cast<double>(*reading.sm_clock_mhz));
  if (clocks.empty()) return std::nullopt;
  return median(clocks);
}

void add_interval_of_mean(const std::vector<double>& samples, Statistics& s) {
  const MeanInterval interval = mean_interval(samples);
  s.ci_low = interval.low;
  s.ci_high = interval.high;
  s.mean_half_width = interval.half_width;
  s.block = static_cast<std::int64_t>(interval.block);
}

}  // namespace

MedianInterval median_interval(std::size_t count) {
  // The number of samples below the median is binomial: k or fewer with the probability that the (k+1)-th sample is
  // above it.
  const boost::math::binomial below(static_cast<double>(count), 0.5);
  const auto outside = [&](std::size_t low) { return 2 * boost::math::cdf(below, static_cast<double>(low)); };
  // Start from the normal approximation and correct it, instead of summing from 0.
  const double n = static_cast<double>(count);
  auto low = static_cast<std::size_t>(std::max(0.0, n / 2 - std::sqrt(n)));
  while (low > 0 && outside(low) > 1 - kConfidence) --low;
  while (2 * (low + 1) < count && outside(low + 1) <= 1 - kConfidence) ++low;
  return {low, count - 1 - low, 1 - outside(low)};
}

Statistics summarize(std::vector<double> samples) {
  if (samples.empty()) throw Error("no samples to summarize");
  Statistics s;
  if (samples.size() >= 2) add_interval_of_mean(samples, s);
  std::ranges::sort(samples);
  s.count = static_cast<std::int64_t>(samples.size());
  s.min = samples.front();
  s.max = samples.back();
  s.mean = std::clamp(boost::math::statistics::mean(samples), s.min, s.max);  // rounding may exceed the range by an ulp
  s.median = quantile(samples, 0.5);
  if (s.count >= 2) {
    s.std = std::sqrt(boost::math::statistics::sample_variance(samples));
    const MedianInterval around = median_interval(samples.size());
    s.median_low = samples[around.low];
    s.median_high = samples[around.high];
    s.median_confidence = around.confidence;
  }
  if (s.count >= kSamplesForP95) s.p95 = quantile(samples, 0.95);
  return s;
}

double relative_standard_error(const std::vector<double>& samples) {
  if (samples.size() < 2) return std::numeric_limits<double>::infinity();
  const double mean = boost::math::statistics::mean(samples);
  if (mean == 0) return std::numeric_limits<double>::infinity();
  const double std = std::sqrt(boost::math::statistics::sample_variance(samples));
  return std / std::sqrt(static_cast<double>(samples.size())) / std::abs(mean);
}

std::vector<std::int64_t> throttled_readings(const std::vector<event::GpuSample>& readings) {
  const std::optional<double> usual = usual_clock_mhz(readings);
  std::vector<std::int64_t> steps;
  for (const auto& reading : readings) {
    const bool slowed = (reading.throttle_reasons & kSlowdownBits) != 0;
    const bool low =
        usual && reading.sm_clock_mhz && static_cast<double>(*reading.sm_clock_mhz) < kUsualClockShare * *usual;
    if (slowed || low) steps.push_back(reading.step);
  }
  std::ranges::sort(steps);
  return steps;
}

void mark_throttled(std::vector<event::Sample>& samples, const std::vector<event::GpuSample>& readings) {
  if (readings.empty()) return;
  const std::vector<std::int64_t> throttled = throttled_readings(readings);
  if (throttled.empty()) return;
  for (auto& sample : samples) {
    auto reading = std::ranges::lower_bound(readings, sample.step, {}, &event::GpuSample::step);
    if (reading == readings.end()) --reading;
    sample.throttled = std::ranges::binary_search(throttled, reading->step);
  }
}

}  // namespace kymo::measure
