// SPDX-License-Identifier: Apache-2.0
#include "measure/pace.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"

namespace kymo::measure {
namespace {

/// Steps that took less than this share of the limit together do not predict the rest: a single pause would count too
/// much.
constexpr double kLeastShare = 0.05;

}  // namespace

std::string time_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole >= 3600) {
    const std::int64_t minutes = whole / 60 % 60;
    return std::to_string(whole / 3600) + " h" + (minutes > 0 ? " " + std::to_string(minutes) + " min" : "");
  }
  if (whole >= 60)
    return std::to_string(whole / 60) + " min" + (whole % 60 > 0 ? " " + std::to_string(whole % 60) + " s" : "");
  if (seconds >= 10) return std::to_string(whole) + " s";
  return seconds == std::floor(seconds) ? std::to_string(whole) + " s" : format_duration(seconds * kNsPerS);
}

Pace::Pace(const Method& method)
    : limit_s_(method.max_pass_time_s), steps_(method.warmup + method.steps), at_least_(method.until.has_value()) {
  if (method.until) steps_ = method.warmup + std::min(method.until->min_samples, method.until->max_samples);
}

void Pace::add(double step_s) {
  ++done_;
  total_s_ += step_s;
  fastest_s_ = std::min(step_s, fastest_s_.value_or(step_s));
}

std::string Pace::problem() const {
  if (done_ < 2 || done_ >= steps_ || total_s_ < kLeastShare * limit_s_) return "";
  const double whole_s = total_s_ + static_cast<double>(steps_ - done_) * *fastest_s_;
  if (whole_s <= limit_s_) return "";
  return "too slow: a step takes " + time_text(*fastest_s_) + ", so that " + (at_least_ ? "at least " : "") +
         std::to_string(steps_) + " steps would take " + time_text(whole_s) + "; a pass may take " +
         time_text(limit_s_) + " (--max-pass-time)";
}

}  // namespace kymo::measure
