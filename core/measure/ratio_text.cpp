// SPDX-License-Identifier: Apache-2.0
#include "measure/ratio_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kymo::measure {
namespace {

double factor_of(double ratio) { return std::max(ratio, 1 / ratio); }
bool is_faster(double ratio) { return ratio < 1; }
bool has_factor(double ratio) { return factor_of(ratio) >= kLeastFactor; }

std::string factor_text(double factor) {
  return fmt::format("{:.{}f}", factor, factor < 9.995 ? 2 : factor < 99.95 ? 1 : 0);
}

/// Without unit and direction.
std::string number_text(double ratio, bool as_factor) {
  return as_factor ? factor_text(factor_of(ratio)) : percent_text(ratio - 1);
}

const char* direction_of(double ratio, bool as_factor) {
  if (as_factor) return is_faster(ratio) ? " times as fast" : " times as long";
  return is_faster(ratio) ? " % faster" : " % slower";
}

/// Both ends lie on the same side of 1.
std::string span_text(double low, double high, bool as_factor) {
  if (is_faster(low)) std::swap(low, high);
  return number_text(low, as_factor) + " to " + number_text(high, as_factor);
}

}  // namespace

std::string percent_text(double share) {
  const double percent = std::abs(100 * share);
  return fmt::format("{:.{}f}", percent, percent < 0.95 ? 2 : percent < 99.5 ? 1 : 0);
}

std::string ratio_text(double ratio) {
  return number_text(ratio, has_factor(ratio)) + direction_of(ratio, has_factor(ratio));
}

std::string ratio_predicate(double ratio, bool certain) {
  const bool as_factor = has_factor(ratio);
  const char* const verb = !certain ? "measured " : as_factor && !is_faster(ratio) ? "takes " : "is ";
  return verb + ratio_text(ratio) + (as_factor ? " as" : " than");
}

std::string ratio_range_text(double low, double high) {
  if (low == high) return ratio_text(low);
  if (is_faster(low) != is_faster(high)) return ratio_text(low) + " to " + ratio_text(high);
  const bool as_factor = has_factor(low) || has_factor(high);
  return span_text(low, high, as_factor) + direction_of(low, as_factor);
}

std::string ratio_interval_text(double ratio, double low, double high) {
  if (is_faster(low) != is_faster(ratio) || is_faster(high) != is_faster(ratio)) return ratio_range_text(low, high);
  const bool as_factor = has_factor(ratio);
  return span_text(low, high, as_factor) + (as_factor ? " times" : " %");
}

}  // namespace kymo::measure
