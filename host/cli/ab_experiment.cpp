// SPDX-License-Identifier: Apache-2.0
#include "cli/ab_experiment.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "measure/step_statistic.hpp"
#include "terminal/run_results.hpp"

namespace kymo::cli {
using namespace terminal;

using measure::SequentialComparison;

Experiment::Experiment(const store::ResultsDatabase& database, std::int64_t invocation, std::size_t candidates,
                       double max_time_s, double margin, bool of_commands)
    : database_(database),
      invocation_(invocation),
      max_time_s_(max_time_s),
      of_commands_(of_commands),
      comparisons_{{StepStatistic::kMedian, {candidates, margin}},
                   {StepStatistic::kMean, {candidates, margin}},
                   {StepStatistic::kFastest, {candidates, margin, SequentialComparison::Values::kUndisturbed}}},
      times_(candidates),
      round_(candidates),
      run_ids_(candidates) {}

bool Experiment::proceed(std::size_t finished) {
  if (finished == 0) return true;
  if (!take(finished - 1)) return false;
  if (finished % count() != 0) return true;
  const double now_s = elapsed_s();
  longest_round_s_ = std::max(longest_round_s_, now_s - round_started_s_);
  if (rounds() == 0) first_round_s_ = std::exchange(longest_round_s_, 0.0);  // it includes verification
  round_started_s_ = now_s;
  if (!add_round()) return false;
  const double expected_s = longest_round_s_ > 0 ? longest_round_s_ : first_round_s_;
  out_of_time_ = now_s + expected_s > max_time_s_;
  return !out_of_time_;
}

void Experiment::finish(bool interrupted) {
  seconds_ = elapsed_s();
  interrupted_ = interrupted;
  if (rounds() == 0) return;
  choose_statistic();
  for (auto& [statistic, comparison] : comparisons_) comparison.finish();
}

TimeComparison Experiment::time_comparison(std::size_t pair) const {
  const SequentialComparison& other = comparisons_.at(other_than(statistic_));
  return {statistic_, comparison().pairs().at(pair).result, other.pairs().at(pair).result};
}

Experiment::End Experiment::end() const {
  if (std::ranges::all_of(comparison().pairs(), &SequentialComparison::Pair::decided)) return End::kVerdict;
  if (interrupted_) return End::kInterrupted;
  if (failed_) return End::kFailed;
  return out_of_time_ ? End::kMaxTime : End::kMaxRuns;
}

void Experiment::limit(supervisor::ProgressView& view) const {
  view.run_count = 0;
  view.share_done = std::min(1.0, elapsed_s() / max_time_s_);
  view.seconds_left = std::max(0.0, max_time_s_ - elapsed_s());
  view.may_end_earlier = true;
}

double Experiment::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Experiment::take(std::size_t index) {
  const Json run = brief_result(database_, invocation_, index);
  failed_ = run.is_null() || run["status"] != "ok" || !run["phases"].contains("step");
  if (failed_) return false;
  const std::size_t round = index / count();
  const std::size_t candidate = round % 2 == 0 ? index % count() : count() - 1 - index % count();
  clocks_.insert(run["phases"]["step"]["clock"].get<std::string>());
  if (clocks_.size() > 1) throw UsageError("the candidates are timed on different clocks: host and device");
  round_[candidate] = run;
  if (round == 0) first_results_[candidate] = run;
  return true;
}

std::optional<measure::LoopTimes> Experiment::loop_of(const Json& run) const {
  std::optional<measure::LoopTimes> loop;
  for_rows(database_, "SELECT loop_ns, fastest_ns FROM reference_loop_time WHERE run_id = " + run["run_id"].dump(),
           [&](const Json& row) { loop = {real_at(row, "fastest_ns"), real_at(row, "loop_ns")}; });
  return loop;
}

bool Experiment::add_round() {
  for (std::size_t i = 0; i < count(); ++i) {
    times_[i].add(round_[i]["phases"]["step"], loop_of(round_[i]));
    run_ids_[i].push_back(round_[i]["run_id"].dump());
  }
  std::map<StepStatistic, bool> is_open;
  for (auto& [statistic, comparison] : comparisons_) {
    std::vector<double> values;
    for (const Json& run : round_) values.push_back(value_ns(run["phases"]["step"], statistic));
    is_open[statistic] = comparison.add_round(values);
  }
  choose_statistic();
  return is_open[statistic_];
}

void Experiment::choose_statistic() {
  if (of_commands_) return;
  std::vector<const SideTimes*> sides;
  for (const SideTimes& times : times_) sides.push_back(&times);
  const StepStatistic found = compared_statistic(sides);
  const bool is_busy_now = statistic_ == StepStatistic::kMedian && found == StepStatistic::kFastest;
  if (rounds() <= SequentialComparison::kLooks.front() || is_busy_now) statistic_ = found;
}

}  // namespace kymo::cli
