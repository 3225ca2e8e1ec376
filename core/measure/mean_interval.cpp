// SPDX-License-Identifier: Apache-2.0
#include "measure/mean_interval.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>

namespace kymo::measure {
namespace {

constexpr std::size_t kFewestSamples = 20;  // for blocks
constexpr std::size_t kFewestBlocks = 10;
constexpr double kUpperTail = 0.975;

/// Autocovariances of the lags 0 to `lags`, divided by the number of samples.
std::vector<double> autocovariances(const std::vector<double>& samples, std::size_t lags) {
  const double mean = boost::math::statistics::mean(samples);
  std::vector<double> found(lags + 1, 0.0);
  for (std::size_t lag = 0; lag <= lags; ++lag) {
    for (std::size_t i = lag; i < samples.size(); ++i) found[lag] += (samples[i] - mean) * (samples[i - lag] - mean);
    found[lag] /= static_cast<double>(samples.size());
  }
  return found;
}

/// The last lag before `run` autocorrelations in a row that are not significant; if there is no such run, the last
/// significant one. At least 1.
std::size_t last_significant_lag(const std::vector<double>& covariances, std::size_t samples, std::size_t run) {
  const auto count = static_cast<double>(samples);
  const double threshold = 2 * std::sqrt(std::log10(count) / count) * covariances[0];
  std::size_t insignificant = 0;
  std::size_t last = 0;
  for (std::size_t lag = 1; lag < covariances.size(); ++lag) {
    const bool significant = std::abs(covariances[lag]) >= threshold;
    insignificant = significant ? 0 : insignificant + 1;
    if (significant) last = lag;
    if (insignificant == run) break;
  }
  return std::max<std::size_t>(last, 1);
}

/// Trapezoidal weight of a lag, for a bandwidth of `lags`.
double weight(std::size_t lag, std::size_t lags) {
  const double at = static_cast<double>(lag) / static_cast<double>(lags);
  return at <= 0.5 ? 1 : 2 * (1 - at);
}

/// Means of consecutive blocks whose lengths differ by at most one sample. With blocks of one length and a remainder, a
/// length that equals the period of slow steps would make all means equal, and hide what the remainder contains.
std::vector<double> block_means(const std::vector<double>& samples, std::size_t blocks) {
  std::vector<double> means;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t from = i * samples.size() / blocks;
    const std::size_t to = (i + 1) * samples.size() / blocks;
    double sum = 0;
    for (std::size_t at = from; at < to; ++at) sum += samples[at];
    means.push_back(sum / static_cast<double>(to - from));
  }
  return means;
}

/// Inverse of Hall's transformation x + γx²/3 + γ²x³/27 + γ/6 of a standardized mean, with γ = skewness / √blocks.
double unskewed(double quantile, double gamma) {
  constexpr double kNone = 1e-9;
  if (std::abs(gamma) < kNone) return quantile;
  return 3 / gamma * (std::cbrt(1 + gamma * (quantile - gamma / 6)) - 1);
}

double skewness(const std::vector<double>& values, double mean, double std) {
  double cubes = 0;
  for (const double value : values) cubes += std::pow((value - mean) / std, 3);
  return cubes / static_cast<double>(values.size());
}

}  // namespace

double optimal_block_length(const std::vector<double>& samples) {
  const std::size_t count = samples.size();
  if (count < 2) return 1;
  const double log_count = std::log10(static_cast<double>(count));
  const auto run = std::max<std::size_t>(5, static_cast<std::size_t>(std::ceil(std::sqrt(log_count))));
  const auto root = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  const std::size_t lags = std::min(root + run, count - 1);
  const std::vector<double> covariances = autocovariances(samples, lags);
  if (!(covariances[0] > 0)) return 1;
  const std::size_t bandwidth = std::min(2 * last_significant_lag(covariances, count, run), lags);
  double weighted_by_lag = 0;        // sum of |k| λ(k) R(k) over all lags
  double long_run = covariances[0];  // sum of λ(k) R(k) over all lags
  for (std::size_t lag = 1; lag <= bandwidth; ++lag) {
    const double both_sides = 2 * weight(lag, bandwidth) * covariances[lag];
    weighted_by_lag += static_cast<double>(lag) * both_sides;
    long_run += both_sides;
  }
  // Slow steps at regular distances make the estimate of the long-run variance small or negative: the longer the
  // blocks, the less their means vary.
  if (long_run == 0) return static_cast<double>(count);
  const double squared = weighted_by_lag / long_run * (weighted_by_lag / long_run);
  return std::max(1.0, std::cbrt(1.5 * squared * static_cast<double>(count)));  // 2 G² / D with D = 4/3 g²
}

MeanInterval mean_interval(const std::vector<double>& samples) {
  MeanInterval found;
  const std::size_t count = samples.size();
  if (count >= kFewestSamples) {
    const double wanted = std::ceil(optimal_block_length(samples));
    found.block = static_cast<std::size_t>(std::min(wanted, static_cast<double>(count / kFewestBlocks)));
  }
  const std::size_t blocks = count / found.block;
  const std::vector<double> means = found.block == 1 ? samples : block_means(samples, blocks);
  const double mean = boost::math::statistics::mean(samples);
  const double of_blocks = boost::math::statistics::mean(means);
  const double std = std::sqrt(boost::math::statistics::sample_variance(means));
  const double error = std / std::sqrt(static_cast<double>(blocks));
  const boost::math::students_t student(static_cast<double>(blocks - 1));
  const double quantile = boost::math::quantile(student, kUpperTail);
  const bool is_corrected = count >= kFewestSamples && std > 0;
  const double gamma = is_corrected ? skewness(means, of_blocks, std) / std::sqrt(static_cast<double>(blocks)) : 0;
  found.half_width = quantile * error;
  found.low = mean - unskewed(quantile, gamma) * error;
  found.high = mean - unskewed(-quantile, gamma) * error;
  return found;
}

}  // namespace kymo::measure
