// SPDX-License-Identifier: Apache-2.0
#include "measure/step_statistic.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace kymo::measure {
namespace {

constexpr std::ptrdiff_t kOftenBusy = 4;  // one of so many runs

}  // namespace

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

bool often_busy(const std::vector<LoopTimes>& runs) {
  if (runs.empty()) return false;
  std::vector<double> fastest;
  for (const LoopTimes& run : runs) fastest.push_back(run.fastest_ns);
  std::ranges::sort(fastest);
  const double best_ns = fastest[fastest.size() / 20];
  const auto is_busy = [&](const LoopTimes& run) { return run.median_ns > kBusyLoop * best_ns; };
  return kOftenBusy * std::ranges::count_if(runs, is_busy) >= std::ssize(runs);
}

std::vector<double> undisturbed(const std::vector<double>& fastest) {
  std::vector<double> kept;
  if (fastest.empty()) return kept;
  const double most = kUndisturbed * *std::ranges::min_element(fastest);
  std::ranges::copy_if(fastest, std::back_inserter(kept), [&](double time) { return time <= most; });
  return kept;
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
