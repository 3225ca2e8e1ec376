// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "measure/comparison.hpp"
#include "measure/step_statistic.hpp"

/// Times of steps or phases as they are shown and compared: by the statistic that represents the runs, with the other
/// one beside it where both disagree. From the objects in `phases` of results_of(). Pure functions.
namespace kymo::terminal {

using measure::StepStatistic;

/// The median, or the mean for the median.
StepStatistic other_than(StepStatistic statistic);
/// The member with the statistic in nanoseconds: "mean_ns", "median_ns" or "min_ns".
const char* member_of(StepStatistic statistic);
/// The statistic that represents a run: the member `statistic`.
StepStatistic statistic_of(const Json& phase);
/// The statistic in nanoseconds.
double value_ns(const Json& phase, StepStatistic statistic);
/// True if the mean and the median of a run differ by more than measure::kAlike.
bool disagree(const Json& phase);

/// A time with the larger distance to the ends of its confidence interval, as report::half_width_text() states it:
/// "231 µs ± 0.6 %".
std::string time_text(const Json& phase, StepStatistic statistic);
/// The time that represents the run and, if it disagrees with the other one, both: "mean step 9.80 ms ± 1.2 % (median
/// 2.00 ms)".
std::string named_time_text(const Json& phase);

/// The times of a phase in the runs of one side of a comparison: one mean, one median and one minimum per run.
class SideTimes {
 public:
  /// Adds a run. Ignores one whose times are not positive. `loop`: if the run measured the reference loop.
  bool add(const Json& phase, const std::optional<measure::LoopTimes>& loop = std::nullopt);

  std::size_t runs() const { return statistics_.size(); }
  const std::vector<StepStatistic>& statistics() const { return statistics_; }
  bool on_busy_machine() const { return measure::often_busy(loops_); }
  /// One value per run; of the fastest steps, those of the undisturbed runs.
  std::vector<double> values_ns(StepStatistic statistic) const;
  /// Median of these values; empty without runs.
  std::optional<double> time_ns(StepStatistic statistic) const;
  bool disagree() const;
  /// Which steps make mean and median disagree, such as "10 % of the steps take more than 1.5 times the median; they
  /// are 82 % of the time", in the run whose mean is the median of all; empty if they agree.
  std::string unlike_steps() const;

 private:
  std::vector<StepStatistic> statistics_;
  std::vector<double> medians_, means_, fastest_;
  std::vector<measure::LoopTimes> loops_;  // of the runs that measured it
  std::vector<std::string> unlike_steps_;
};

/// The statistic by which sides are compared: measure::common_statistic(), or, if that is the median and the machine
/// was often busy in the runs of a side, the fastest step. Where mean and median disagree, the fastest step is one of
/// few.
StepStatistic compared_statistic(const std::vector<const SideTimes*>& sides);

/// What a reader must know of a comparison by the fastest steps, without the final period: "the machine was often
/// busy: the fastest steps are compared, in 4 of 10 runs of before and 7 of 9 of after, which were undisturbed"; empty
/// for another statistic.
std::string busy_sentence(StepStatistic statistic, const std::vector<std::string>& names,
                          const std::vector<const SideTimes*>& sides);

/// Sets `time_ns`, `median_ns` and `mean_ns` (medians over the runs; null without runs), and `unlike_steps`.
void put_times(Json& side, const SideTimes& times, StepStatistic statistic);

/// Two sides compared by compared_statistic(), and by the other one.
struct TimeComparison {
  StepStatistic statistic = StepStatistic::kMedian;
  measure::Comparison found;
  measure::Comparison by_other;

  /// True if the other statistic leads to another conclusion: to another verdict, or to a ratio that differs by more
  /// than measure::kAlike. Means that vary too much for a verdict do not count against medians.
  bool other_differs() const;
};
/// Neither side may be empty.
TimeComparison compare_times(const SideTimes& first, const SideTimes& second, double margin);

/// The verdict by the other statistic in one sentence, without the final period: "the medians say something else: B is
/// …"; empty if it is the same. `time`: as for verdict_sentence().
std::string other_sentence(const std::string& first, const std::string& second, const TimeComparison& compared,
                           double margin, const std::string& time = "step");

/// Sets the members of put_comparison(), `statistic`, and `by_other`: null, or an object with the same members if the
/// other statistic leads to another conclusion.
void put_time_comparison(Json& row, const std::optional<TimeComparison>& compared);

}  // namespace kymo::terminal
