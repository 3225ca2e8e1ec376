// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "base/json.hpp"
#include "measure/sequential.hpp"
#include "store/results.hpp"
#include "supervisor/progress_meter.hpp"
#include "terminal/step_times.hpp"

namespace kymo::cli {

/// The rounds of `kymo ab`, until there is a verdict or the next round would probably end after the maximum time. In
/// each second round, the candidates run in reverse order.
///
/// The candidates are compared by their means, medians and fastest steps. Which of these counts is decided at the first
/// look, by compared_statistic(), and then kept, so that choosing gives chance no further opportunity to find a
/// difference; only the fastest steps replace the medians later, once the machine is often busy, which does not depend
/// on the candidates. Whole commands are compared by their medians: slow executions of a short command are usually due
/// to other processes.
class Experiment {
 public:
  enum class End { kVerdict, kMaxTime, kMaxRuns, kInterrupted, kFailed };
  friend constexpr auto names_of(End) {
    using enum End;
    return enum_names<End>("end", {{kVerdict, "verdict"},
                                   {kMaxTime, "max-time"},
                                   {kMaxRuns, "max-runs"},
                                   {kInterrupted, "interrupted"},
                                   {kFailed, "failed"}});
  }

  /// `candidates` is their number; `margin` is the largest relative difference that counts as none.
  Experiment(const store::ResultsDatabase& database, std::int64_t invocation, std::size_t candidates, double max_time_s,
             double margin, bool of_commands = false);

  /// Reads the run that finished last of `finished` runs. Returns whether to start another one. Throws UsageError if
  /// the candidates are timed on different clocks.
  bool proceed(std::size_t finished);
  void finish(bool interrupted);

  std::size_t rounds() const { return comparison().rounds(); }
  measure::StepStatistic statistic() const { return statistic_; }
  const measure::SequentialComparison& comparison() const { return comparisons_.at(statistic_); }
  /// A pair with its comparison by the other statistic.
  terminal::TimeComparison time_comparison(std::size_t pair) const;
  const terminal::SideTimes& times(std::size_t candidate) const { return times_.at(candidate); }
  double seconds() const { return seconds_; }
  /// Why the experiment ended.
  End end() const;
  /// Runs of the complete rounds, by candidate.
  const std::vector<std::vector<std::string>>& run_ids() const { return run_ids_; }
  const Json& first_result(std::size_t candidate) const { return first_results_.at(candidate); }

  /// Shows the time within the maximum instead of the number of runs, which nobody knows in advance.
  void limit(supervisor::ProgressView& view) const;

 private:
  std::size_t count() const { return times_.size(); }
  double elapsed_s() const;
  /// Reads the times of a finished run; false if it failed.
  bool take(std::size_t index);
  /// Returns false if no more rounds are needed.
  bool add_round();
  /// That of the reference loop in a run; empty without one.
  std::optional<measure::LoopTimes> loop_of(const Json& run) const;
  void choose_statistic();

  const store::ResultsDatabase& database_;
  std::int64_t invocation_;
  double max_time_s_;
  bool of_commands_;
  std::map<measure::StepStatistic, measure::SequentialComparison> comparisons_;
  measure::StepStatistic statistic_ = measure::StepStatistic::kMedian;
  std::vector<terminal::SideTimes> times_;  // by candidate
  std::vector<Json> round_;                 // the run of each candidate
  std::vector<std::vector<std::string>> run_ids_;
  std::map<std::size_t, Json> first_results_;
  std::set<std::string> clocks_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double round_started_s_ = 0, first_round_s_ = 0, longest_round_s_ = 0, seconds_ = 0;
  bool out_of_time_ = false, failed_ = false, interrupted_ = false;
};

}  // namespace kymo::cli
