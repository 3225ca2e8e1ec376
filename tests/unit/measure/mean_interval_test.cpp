// SPDX-License-Identifier: Apache-2.0
#include "measure/mean_interval.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "measure/statistics.hpp"

namespace kymo::measure {
namespace {

using Random = std::mt19937_64;
using Process = std::function<std::vector<double>(Random&, std::size_t count)>;

double uniform(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// Box and Muller; the distributions of the standard library differ between implementations.
double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(random)));
  return radius * std::cos(2 * 3.14159265358979323846 * uniform(random));
}

/// Each step depends on the one before it: AR(1) with this coefficient and mean 100.
Process autoregressive(double coefficient) {
  return [=](Random& random, std::size_t count) {
    std::vector<double> samples;
    double at = normal(random) / std::sqrt(1 - coefficient * coefficient);
    for (std::size_t i = 0; i < count; ++i) {
      samples.push_back(100 + at);
      at = coefficient * at + normal(random);
    }
    return samples;
  };
}

/// Steps of 2 with 2 % of noise; every `period`-th takes `slow`, from a random position on.
Process periodic(std::size_t period, double slow) {
  return [=](Random& random, std::size_t count) {
    const std::size_t offset = random() % period;
    std::vector<double> samples;
    for (std::size_t i = 0; i < count; ++i)
      samples.push_back(((i + offset) % period == 0 ? slow : 2) * (1 + 0.02 * normal(random)));
    return samples;
  };
}

/// Phases of slow steps, on average 5 of 50 steps, such as a loader that falls behind; mean 2.8.
std::vector<double> bursts(Random& random, std::size_t count) {
  std::vector<double> samples;
  bool slow = uniform(random) < 0.1;
  for (std::size_t i = 0; i < count; ++i) {
    samples.push_back((slow ? 10 : 2) * (1 + 0.02 * normal(random)));
    slow = slow ? uniform(random) >= 1.0 / 5 : uniform(random) < 1.0 / 45;
  }
  return samples;
}

/// Independent steps, of which a few take 40 times as long: 2 or, one in ten, 80; mean 9.8.
std::vector<double> rare(Random& random, std::size_t count) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i)
    samples.push_back((uniform(random) < 0.1 ? 80 : 2) * (1 + 0.02 * normal(random)));
  return samples;
}

struct Coverage {
  double blocks = 0, student = 0;       // shares of the intervals that contain the mean of the process
  double width = 0, student_width = 0;  // mean half-widths
};

double student_half_width(const std::vector<double>& samples) {
  constexpr double kQuantile = 1.96;  // of Student's t for hundreds of samples, within 1 %
  return kQuantile * relative_standard_error(samples) * summarize(samples).mean;
}

Coverage coverage(const Process& process, double mean, std::size_t count, int trials) {
  Random random(20240607);
  Coverage found;
  for (int i = 0; i < trials; ++i) {
    const std::vector<double> samples = process(random, count);
    const MeanInterval interval = mean_interval(samples);
    const double middle = summarize(samples).mean;
    const double half = student_half_width(samples);
    found.blocks += interval.low <= mean && mean <= interval.high;
    found.student += std::abs(middle - mean) <= half;
    found.width += (interval.high - interval.low) / 2;
    found.student_width += half;
  }
  for (double* value : {&found.blocks, &found.student, &found.width, &found.student_width}) *value /= trials;
  return found;
}

TEST(MeanInterval, OfIndependentSamplesIsThatOfStudent) {
  const Coverage found = coverage(autoregressive(0), 100, 200, 1000);
  EXPECT_NEAR(found.blocks, 0.95, 0.025);
  EXPECT_NEAR(found.width / found.student_width, 1, 0.05);
}

TEST(MeanInterval, CoversTheMeanOfAutocorrelatedSteps) {
  const Coverage some = coverage(autoregressive(0.7), 100, 1000, 500);
  EXPECT_GT(some.blocks, 0.91);
  EXPECT_LT(some.blocks, 0.98);
  EXPECT_LT(some.student, 0.70);
  const Coverage strong = coverage(autoregressive(0.9), 100, 1000, 500);
  EXPECT_GT(strong.blocks, 0.88);
  EXPECT_LT(strong.blocks, 0.98);
  EXPECT_LT(strong.student, 0.50);
}

TEST(MeanInterval, CoversTheMeanOfBursts) {
  const Coverage found = coverage(bursts, 2.8, 1000, 500);
  EXPECT_GT(found.blocks, 0.90);
  EXPECT_LT(found.blocks, 0.99);
  EXPECT_LT(found.student, 0.65);
}

TEST(MeanInterval, CoversTheMeanOfRareSlowSteps) {
  EXPECT_GT(coverage(rare, 9.8, 60, 1000).blocks, 0.93);
  EXPECT_NEAR(coverage(rare, 9.8, 1000, 500).blocks, 0.95, 0.03);
}

TEST(MeanInterval, OfPeriodicStallsIsNarrowAndTrue) {
  // What is random is where the steps begin within a period: the mean of all steps is known much better than Student's
  // t says, which treats the stalls as random.
  for (const std::size_t period : {7, 10}) {
    const double slow = 80;
    const double mean = 2 + (slow - 2) / static_cast<double>(period);
    const Coverage found = coverage(periodic(period, slow), mean, 1000, 300);
    EXPECT_GT(found.blocks, 0.93) << period;
    EXPECT_EQ(found.student, 1) << period;
    EXPECT_LT(found.width, 0.5 * found.student_width) << period;
    EXPECT_GT(coverage(periodic(period, slow), mean, 60, 300).blocks, 0.93) << period;
  }
}

TEST(MeanInterval, OfFewSamplesIsThatOfStudent) {
  const MeanInterval interval = mean_interval({9, 11});
  EXPECT_EQ(interval.block, 1u);
  EXPECT_NEAR(interval.half_width, 12.706205, 1e-5);  // t(0.975, 1) times a standard error of 1
  EXPECT_NEAR(interval.low, 10 - 12.706205, 1e-5);
  EXPECT_NEAR(interval.high, 10 + 12.706205, 1e-5);
}

TEST(MeanInterval, OfEqualSamplesIsAPoint) {
  const MeanInterval interval = mean_interval(std::vector<double>(50, 3.0));
  EXPECT_EQ(interval.low, 3);
  EXPECT_EQ(interval.high, 3);
}

TEST(MeanInterval, HasAtLeastTenBlocks) {
  std::vector<double> ramp;
  for (int i = 0; i < 100; ++i) ramp.push_back(i);
  EXPECT_EQ(mean_interval(ramp).block, 10u) << "the drift calls for longer blocks";
}

TEST(OptimalBlockLength, AgreesWithTheFormulaForAnAutoregression) {
  // b = (2 G² n / D)^(1/3) with G = 2φ/(1-φ)² and D = 4/3 ((1+φ)/(1-φ))², both times the variance.
  Random random(7);
  const double formula = std::cbrt(1.5 * std::pow(2 * 0.7 / (1 - 0.49), 2) * 100000);
  const double estimate = optimal_block_length(autoregressive(0.7)(random, 100000));
  EXPECT_NEAR(estimate / formula, 1, 0.1);
  EXPECT_LT(optimal_block_length(autoregressive(0)(random, 100000)), 0.1 * formula);
}

}  // namespace
}  // namespace kymo::measure
