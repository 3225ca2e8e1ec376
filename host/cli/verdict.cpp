// SPDX-License-Identifier: Apache-2.0
#include "cli/verdict.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kymo::cli {
namespace {

/// Two significant digits or one decimal, for example 0.43, 5.1 and 120.
std::string percent_text(double share) {
  const double percent = 100 * share;
  const double size = std::abs(percent);
  return fmt::format("{:.{}f}", percent, size < 0.95 ? 2 : size < 99.5 ? 1 : 0);
}

std::string interval_text(double low, double high) {
  return "95 % interval " + percent_text(low) + " to " + percent_text(high) + " %";
}

}  // namespace

std::string verdict_sentence(const std::string& first, const std::string& second, const measure::Comparison& found,
                             double margin) {
  using measure::Verdict;
  const double change = found.ratio - 1;
  const bool known = found.low && found.high;
  switch (found.verdict) {
    case Verdict::kFaster:
      return second + " is " + percent_text(-change) + " % faster than " + first + " (" +
             interval_text(1 - *found.high, 1 - *found.low) + ")";
    case Verdict::kSlower:
      return second + " is " + percent_text(change) + " % slower than " + first + " (" +
             interval_text(*found.low - 1, *found.high - 1) + ")";
    case Verdict::kSame:
      return first + " and " + second + " take the same time within " + percent_text(margin) + " % (" +
             interval_text(*found.low - 1, *found.high - 1) + ")";
    case Verdict::kAmbiguous:
      break;
  }
  return "no verdict: " + second + " takes " + percent_text(std::abs(change)) + " % " + (change < 0 ? "less" : "more") +
         " time than " + first + (known ? " (" + interval_text(*found.low - 1, *found.high - 1) + ")" : "");
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

std::string fixed_or_dash(const Json& value) {
  return value.is_null() ? "-" : fmt::format("{:.3f}", value.get<double>());
}

std::string interval_or_dash(const Json& row) {
  return row["ratio_low"].is_null() ? "-" : fixed_or_dash(row["ratio_low"]) + " to " + fixed_or_dash(row["ratio_high"]);
}

}  // namespace kymo::cli
