// SPDX-License-Identifier: Apache-2.0
#include "terminal/step_times.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/text.hpp"
#include "measure/statistics.hpp"
#include "report/number.hpp"
#include "terminal/reading.hpp"
#include "terminal/verdict.hpp"

namespace kymo::terminal {
StepStatistic other_than(StepStatistic statistic) {
  return statistic == StepStatistic::kMedian ? StepStatistic::kMean : StepStatistic::kMedian;
}

const char* member_of(StepStatistic statistic) {
  if (statistic == StepStatistic::kFastest) return "min_ns";
  return statistic == StepStatistic::kMean ? "mean_ns" : "median_ns";
}

StepStatistic statistic_of(const Json& phase) {
  if (const auto found = names_of(StepStatistic{}).find(text_at(phase, "statistic"))) return *found;
  throw Error(unexpected_value("an unknown statistic"));
}

double value_ns(const Json& phase, StepStatistic statistic) { return real_at(phase, member_of(statistic)); }

bool disagree(const Json& phase) { return measure::disagree(real_at(phase, "mean_ns"), real_at(phase, "median_ns")); }

std::string time_text(const Json& phase, StepStatistic statistic) {
  const double value = value_ns(phase, statistic);
  const bool is_mean = statistic == StepStatistic::kMean;
  const Json& low = phase[is_mean ? "ci_low_ns" : "median_low_ns"];
  const Json& high = phase[is_mean ? "ci_high_ns" : "median_high_ns"];
  const std::string text = format_duration(value);
  if (low.is_null() || high.is_null() || value <= 0) return text;
  const double distance = std::max(value - low.get<double>(), high.get<double>() - value);
  return text + " " + report::half_width_text(distance / value);
}

std::string named_time_text(const Json& phase) {
  const StepStatistic statistic = statistic_of(phase);
  const StepStatistic other = other_than(statistic);
  const std::string text = std::string(measure::to_string(statistic)) + " step " + time_text(phase, statistic);
  if (statistic == StepStatistic::kMedian || !disagree(phase)) return text;
  return text + " (" + measure::to_string(other) + " " + format_duration(value_ns(phase, other)) + ")";
}

bool SideTimes::add(const Json& phase, const std::optional<measure::LoopTimes>& loop) {
  const double median_ns = value_ns(phase, StepStatistic::kMedian);
  const double mean_ns = value_ns(phase, StepStatistic::kMean);
  const double fastest_ns = value_ns(phase, StepStatistic::kFastest);
  if (!(median_ns > 0) || !(mean_ns > 0) || !(fastest_ns > 0)) return false;
  statistics_.push_back(statistic_of(phase));
  medians_.push_back(median_ns);
  means_.push_back(mean_ns);
  fastest_.push_back(fastest_ns);
  if (loop) loops_.push_back(*loop);
  unlike_steps_.push_back(text_at(phase, "unlike_steps"));
  return true;
}

std::vector<double> SideTimes::values_ns(StepStatistic statistic) const {
  if (statistic == StepStatistic::kFastest) return measure::undisturbed(fastest_);
  return statistic == StepStatistic::kMean ? means_ : medians_;
}

std::optional<double> SideTimes::time_ns(StepStatistic statistic) const {
  if (runs() == 0) return std::nullopt;
  return measure::summarize(values_ns(statistic)).median;
}

bool SideTimes::disagree() const {
  return runs() > 0 && measure::disagree(*time_ns(StepStatistic::kMean), *time_ns(StepStatistic::kMedian));
}

std::string SideTimes::unlike_steps() const {
  if (!disagree()) return "";
  std::vector<std::size_t> by_mean(runs());
  std::iota(by_mean.begin(), by_mean.end(), std::size_t{0});
  std::ranges::sort(by_mean, {}, [&](std::size_t run) { return means_[run]; });
  return unlike_steps_[by_mean[(runs() - 1) / 2]];
}

StepStatistic compared_statistic(const std::vector<const SideTimes*>& sides) {
  std::vector<std::vector<StepStatistic>> statistics;
  for (const SideTimes* side : sides) statistics.push_back(side->statistics());
  const StepStatistic common = measure::common_statistic(statistics);
  const bool busy = std::ranges::any_of(sides, &SideTimes::on_busy_machine);
  return busy && common == StepStatistic::kMedian ? StepStatistic::kFastest : common;
}

std::string busy_sentence(StepStatistic statistic, const std::vector<std::string>& names,
                          const std::vector<const SideTimes*>& sides) {
  if (statistic != StepStatistic::kFastest) return "";
  std::vector<std::string> counts;
  for (std::size_t i = 0; i < sides.size(); ++i)
    counts.push_back(std::to_string(sides[i]->values_ns(statistic).size()) + " of " + std::to_string(sides[i]->runs()) +
                     (i == 0 ? " runs" : "") + " of " + names[i]);
  return "the machine was often busy: the fastest steps are compared, in " + join(counts, " and ") +
         ", which were undisturbed";
}

void put_times(Json& side, const SideTimes& times, StepStatistic statistic) {
  const auto put = [&](const char* name, StepStatistic which) {
    const std::optional<double> time_ns = times.time_ns(which);
    side[name] = time_ns ? Json(*time_ns) : Json(nullptr);
  };
  put("time_ns", statistic);
  put("median_ns", StepStatistic::kMedian);
  put("mean_ns", StepStatistic::kMean);
  side["unlike_steps"] = times.unlike_steps();
}

bool TimeComparison::other_differs() const {
  using measure::Verdict;
  const bool decided = by_other.verdict != Verdict::kAmbiguous;
  if (decided && by_other.verdict != found.verdict) return true;
  const bool other_ratio = std::abs(std::log(by_other.ratio / found.ratio)) > std::log1p(measure::kAlike);
  return other_ratio && (decided || statistic == StepStatistic::kMean);
}

TimeComparison compare_times(const SideTimes& first, const SideTimes& second, double margin) {
  TimeComparison compared;
  compared.statistic = compared_statistic({&first, &second});
  const auto by = [&](StepStatistic statistic) {
    return measure::compare(first.values_ns(statistic), second.values_ns(statistic), margin);
  };
  compared.found = by(compared.statistic);
  compared.by_other = by(other_than(compared.statistic));
  return compared;
}

std::string other_sentence(const std::string& first, const std::string& second, const TimeComparison& compared,
                           double margin, const std::string& time) {
  if (!compared.other_differs()) return "";
  const StepStatistic other = other_than(compared.statistic);
  return std::string("the ") + measure::to_string(other) +
         "s say something else: " + verdict_sentence(first, second, compared.by_other, margin, other, time);
}

void put_time_comparison(Json& row, const std::optional<TimeComparison>& compared) {
  row["statistic"] = compared ? Json(measure::to_string(compared->statistic)) : Json(nullptr);
  put_comparison(row, compared ? std::optional(compared->found) : std::nullopt);
  Json& other = row["by_other"] = nullptr;
  if (!compared || !compared->other_differs()) return;
  other = Json{{"statistic", measure::to_string(other_than(compared->statistic))}};
  put_comparison(other, compared->by_other);
}

}  // namespace kymo::terminal
