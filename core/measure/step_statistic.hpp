// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/enum_names.hpp"
#include "measure/plan.hpp"
#include "measure/statistics.hpp"

/// Which statistic of its steps represents a run, in comparisons and wherever one step time is shown.
namespace kymo::measure {

enum class StepStatistic {
  kMedian,
  kMean,     ///< the time of all steps, per step
  kFastest,  ///< the shortest step, which compares runs on a busy machine
};
constexpr auto names_of(StepStatistic) {
  using enum StepStatistic;
  return enum_names<StepStatistic>("statistic", {{kMedian, "median"}, {kMean, "mean"}, {kFastest, "fastest"}});
}

/// Largest difference of mean and median, relative to the median, with which steps count as alike.
inline constexpr double kAlike = 0.05;
/// A step is slow if it takes more than this times the median, and fast if it takes less than the median divided by
/// this.
inline constexpr double kUnlikeStep = 1.5;

/// Returns true if a median says something else than the time of all steps: it differs from the mean by more than
/// kAlike.
bool disagree(double mean, double median);

/// Returns the statistic that represents a run, from its steps:
/// - programs (timing `free`): the mean, because users pay for all steps of a program;
/// - timing `hot` and `cold`, which measure a single phase repeatedly: the median;
/// - timing `sync`: the median, except where steps are not alike: the mean differs from the median by more than kAlike
///   even if the half-width of its interval is subtracted. A single slow step never does, whatever it takes, nor does a
///   single burst of slow steps: its share of the mean is smaller than the interval that it causes. Slow steps that
///   recur, at least four of them or at regular distances, do. `waited_for_processor`, the warning `interference`,
///   keeps the median, because then other processes can be the cause.
StepStatistic statistic_of_run(Timing timing, bool waited_for_processor, const Statistics& steps);

/// Returns the statistic with which sides of a comparison are compared, from those of their runs: the mean if more than
/// half of the runs of any side are represented by it, otherwise the median. A side may be empty.
StepStatistic common_statistic(const std::vector<std::vector<StepStatistic>>& sides);

/// Times of the reference loop of a run (table `reference_loop`), in nanoseconds.
struct LoopTimes {
  double fastest_ns = 0;
  double median_ns = 0;
};
/// Above this ratio to its time in the best state of the machine, the loop shows that the machine is busy.
inline constexpr double kBusyLoop = 1.05;

/// Returns true if the machine was busy in a quarter of these runs of one side or more: for most of the run, the loop
/// took longer than kBusyLoop times its time in the best state, which at least 5 % of the runs reach, as in the view
/// machine_slowdown. Steps use caches and are disturbed in more runs than the loop. False without runs.
bool often_busy(const std::vector<LoopTimes>& runs);

/// Runs whose fastest steps differ by at most this ratio were undisturbed alike.
inline constexpr double kUndisturbed = 1.1;

/// Returns the fastest steps of the undisturbed runs of one side, in their order: those within kUndisturbed of the
/// shortest. Other processes only ever add to the time of a step, so that the shortest step estimates best what the
/// code takes (J. Chen and J. Revels, "Robust benchmarking in noisy environments", HPEC 2016). A process that shares a
/// core with another one all the time has no undisturbed step; such a process takes at least 15 % longer.
std::vector<double> undisturbed(const std::vector<double>& fastest);

/// The slow and the fast steps among all.
struct UnlikeSteps {
  std::int64_t slow = 0;
  double slow_total = 0;  ///< sum of these steps, in the unit of the samples
  std::int64_t fast = 0;
  double fast_total = 0;
};
UnlikeSteps unlike_steps(const std::vector<double>& samples, double median);

}  // namespace kymo::measure
