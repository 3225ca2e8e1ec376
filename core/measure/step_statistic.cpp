// SPDX-License-Identifier: Apache-2.0
#include "measure/step_statistic.hpp"

#include <algorithm>
#include <cmath>

namespace kymo::measure {

bool disagree(double mean, double median) { return std::abs(mean - median) > kAlike * median; }

StepStatistic statistic_of_run(Timing timing, bool waited_for_processor, const Statistics& steps) {
  if (timing == Timing::kFree) return StepStatistic::kMean;
  if (timing != Timing::kSync || waited_for_processor || !steps.mean_half_width) return StepStatistic::kMedian;
  const double difference = std::abs(steps.mean - steps.median) - *steps.mean_half_width;
  return difference > kAlike * steps.median ? StepStatistic::kMean : StepStatistic::kMedian;
}

StepStatistic common_statistic(const std::vector<std::vector<StepStatistic>>& sides) {
  const auto needs_mean = [](const std::vector<StepStatistic>& side) {
    return 2 * std::ranges::count(side, StepStatistic::kMean) > std::ssize(side);
  };
  return std::ranges::any_of(sides, needs_mean) ? StepStatistic::kMean : StepStatistic::kMedian;
}

UnlikeSteps unlike_steps(const std::vector<double>& samples, double median) {
  UnlikeSteps found;
  for (const double sample : samples) {
    if (sample > kUnlikeStep * median) {
      ++found.slow;
      found.slow_total += sample;
    } else if (sample < median / kUnlikeStep) {
      ++found.fast;
      found.fast_total += sample;
    }
  }
  return found;
}

}  // namespace kymo::measure
