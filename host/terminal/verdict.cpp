// SPDX-License-Identifier: Apache-2.0
#include "terminal/verdict.hpp"

#include "measure/ratio_text.hpp"

namespace kymo::terminal {
namespace {

std::string in_parentheses(const std::string& interval) { return " (95 % interval " + interval + ")"; }

}  // namespace

std::string verdict_sentence(const std::string& first, const std::string& second, const measure::Comparison& found,
                             double margin, measure::StepStatistic statistic, const std::string& time) {
  using measure::Verdict;
  const std::string by = std::string(" by the ") + measure::to_string(statistic) + " " + time;
  if (found.verdict == Verdict::kSame)
    return first + " and " + second + " take the same time within " + measure::percent_text(margin) + " %" + by +
           in_parentheses(measure::ratio_range_text(*found.low, *found.high));
  const bool certain = found.verdict != Verdict::kAmbiguous;
  return (certain ? "" : "no verdict: ") + second + " " + measure::ratio_predicate(found.ratio, certain) + " " + first +
         by +
         (found.low && found.high ? in_parentheses(measure::ratio_interval_text(found.ratio, *found.low, *found.high))
                                  : "");
}

void put_comparison(Json& row, const std::optional<measure::Comparison>& found) {
  const auto put = [&](const char* name, const auto& value) { row[name] = value ? Json(*value) : Json(nullptr); };
  const measure::Comparison values = found.value_or(measure::Comparison{});
  put("ratio", found ? std::optional(values.ratio) : std::nullopt);
  put("ratio_low", values.low);
  put("ratio_high", values.high);
  put("probability", values.probability);
  put("verdict", found ? std::optional(measure::to_string(values.verdict)) : std::nullopt);
  put("more_runs", values.more_runs);
}

}  // namespace kymo::terminal
