// SPDX-License-Identifier: Apache-2.0
#include "report/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/number.hpp"
#include "report/panels.hpp"
#include "report/svg_canvas.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

constexpr int kTargetTicks = 5;
constexpr std::size_t kFewPoints = 8;
constexpr double kFlat = 0.2;  // lines whose values differ by less, as a share of the largest, are not drawn from zero
constexpr double kAboveReference = 1.1;  // room above a reference line

struct Range {
  double low = INFINITY;
  double high = -INFINITY;

  void take(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

std::vector<Tick> labelled(const std::vector<double>& values) {
  std::vector<Tick> ticks;
  for (const double value : values) ticks.push_back({value, tick_label(value)});
  return ticks;
}

Range stacked_range(const Chart& chart) {
  std::map<double, double> sums;
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) sums[point.x] += point.y.value_or(0);
  }
  Range range;
  for (const auto& [x, sum] : sums) range.take(sum);
  return range;
}

Range y_range(const Chart& chart) {
  if (!chart.panels.empty()) {
    Range range;
    for (std::size_t i = 0; i < chart.panels.size(); ++i) {
      const Range one = y_range(panel_chart(chart, i));
      if (one.empty()) continue;
      range.take(one.low);
      range.take(one.high);
    }
    return range;
  }
  if (chart.kind == ChartKind::kArea || chart.stacked) return stacked_range(chart);
  Range range;
  if (chart.reference_line) range.take(chart.reference_line->value);
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      if (!point.y) continue;
      range.take(*point.y);
      range.take(*point.y + point.error.value_or(0));
      // An error bar that extends below zero must not stretch the axis by decades or to negative times.
      const double lower = *point.y - point.error.value_or(0);
      if (*point.y < 0 || lower > *point.y / 10) range.take(lower);
    }
  }
  return range;
}

ScaledAxis linear_axis(double low, double high) {
  ScaledAxis axis;
  axis.ticks = labelled(linear_ticks(low, high, kTargetTicks));
  axis.low = axis.ticks.front().value;
  axis.high = axis.ticks.back().value;
  return axis;
}

ScaledAxis log_axis(double low, double high) {
  ScaledAxis axis;
  axis.scale = Scale::kLog;
  axis.ticks = labelled(log_ticks(low, high));
  axis.low = axis.ticks.front().value;
  axis.high = axis.ticks.back().value;
  return axis;
}

bool is_power_of_two(double value) {
  int exponent = 0;
  return value > 0 && std::frexp(value, &exponent) == 0.5;
}
bool are_powers_of_two(const std::set<double>& values) {
  return values.size() >= 3 && std::all_of(values.begin(), values.end(), is_power_of_two);
}

// An axis with round ends may end far above the line that the values are compared with.
ScaledAxis below_reference(ScaledAxis axis, const Chart& chart, const Range& range) {
  if (!chart.reference_line) return axis;
  const double end = range.high * kAboveReference;
  if (axis.high <= end) return axis;
  std::erase_if(axis.ticks, [end](const Tick& tick) { return tick.value > end; });
  axis.high = end;
  return axis;
}

// True if there are few enough points for ticks at the points themselves, with room for their labels.
bool readable_apart(const ScaledAxis& axis, const std::set<double>& values) {
  constexpr double kSmallestGap = 0.07;
  if (values.size() > kFewPoints) return false;
  for (auto it = values.begin(); it != values.end() && std::next(it) != values.end(); ++it) {
    if (axis.position(*std::next(it)) - axis.position(*it) < kSmallestGap) return false;
  }
  return true;
}

bool wants_log(Scale scale, const Range& range) {
  return scale == Scale::kLog || (scale == Scale::kAuto && range.high > 100 * range.low);
}

// Exact powers of ten: std::pow(10, -3) is not always the double nearest to 0.001, which would show in labels.
double power_of_ten(int exponent) { return std::strtod(fmt::format("1e{}", exponent).c_str(), nullptr); }

}  // namespace

std::string tick_label(double value) {
  if (value != 0 && (std::abs(value) >= 1e7 || std::abs(value) < 1e-4)) return fmt::format("{:g}", value);
  return grouped(fmt::format("{:.10g}", value));
}

double ScaledAxis::position(double value) const {
  const auto transformed = [this](double v) { return scale == Scale::kLog ? std::log10(std::max(v, low)) : v; };
  const double span = transformed(high) - transformed(low);
  return span == 0 ? 0.5 : std::clamp((transformed(value) - transformed(low)) / span, 0.0, 1.0);
}

std::vector<double> linear_ticks(double low, double high, int target) {
  if (!(high > low)) {
    const double margin = low == 0 ? 1 : std::abs(low) * 0.5;
    high = low + margin;
    low -= low == 0 ? 0 : margin;
  }
  const double rough = (high - low) / target;
  const int exponent = static_cast<int>(std::floor(std::log10(rough)));
  const double fraction = rough / std::pow(10.0, exponent);
  const int factor = fraction <= 1.0001 ? 1 : fraction <= 2.0001 ? 2 : fraction <= 5.0001 ? 5 : 10;
  const double unit = power_of_ten(exponent);
  const auto first = static_cast<std::int64_t>(std::floor(low / (factor * unit) + 1e-9));
  const auto last = static_cast<std::int64_t>(std::ceil(high / (factor * unit) - 1e-9));
  std::vector<double> ticks;
  for (std::int64_t i = first; i <= last; ++i) {
    const auto count = static_cast<double>(i * factor);
    ticks.push_back(exponent < 0 ? count / power_of_ten(-exponent) : count * unit);
  }
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  const double decades = std::log10(high / low);
  std::vector<int> factors{1};
  if (decades < 3) factors = {1, 2, 5};
  const int stride = decades > 8 ? 2 : 1;
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  std::vector<double> ticks;
  for (int exponent = first; ticks.size() < 400; exponent += stride) {
    for (const int factor : factors) {
      const double tick = exponent < 0 ? factor / power_of_ten(-exponent) : factor * power_of_ten(exponent);
      if (!ticks.empty() && tick <= low * 1.0001) ticks.clear();  // keep one tick at or below the lowest value
      ticks.push_back(tick);
      if (tick >= high * 0.9999 && ticks.size() > 1) return ticks;
    }
  }
  return ticks;
}

std::vector<double> binary_ticks(double low, double high) {
  constexpr int kMost = 8;
  const auto first = static_cast<int>(std::floor(std::log2(low) + 1e-9));
  const auto last = static_cast<int>(std::ceil(std::log2(high) - 1e-9));
  const int stride = std::max(1, (last - first + kMost) / kMost);
  std::vector<double> ticks;
  for (int exponent = first; exponent < last + stride; exponent += stride) ticks.push_back(std::ldexp(1, exponent));
  return ticks;
}

ScaledAxis value_axis(const Chart& chart) {
  const Range range = y_range(chart);
  if (range.empty()) return linear_axis(0, 1);
  const bool positive = range.low > 0 && chart.kind != ChartKind::kArea && !chart.stacked;
  if (positive && wants_log(chart.y.scale, range)) {
    const double room = chart.kind == ChartKind::kBar ? 0.8 : 1;  // leaves some height for the smallest bar
    return below_reference(log_axis(range.low * room, range.high), chart, range);
  }
  const bool flat = chart.kind == ChartKind::kLine && range.low > 0 && range.low < range.high &&
                    range.high - range.low < kFlat * range.high;
  if (flat) return linear_axis(range.low, range.high);
  return below_reference(linear_axis(std::min(0.0, range.low), std::max(range.high, range.low < 0 ? 0.0 : range.high)),
                         chart, range);
}

ScaledAxis point_axis(const Chart& chart) {
  std::set<double> values;
  Range range;
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      values.insert(point.x);
      range.take(point.x);
    }
  }
  if (range.empty()) return linear_axis(0, 1);
  const bool binary = are_powers_of_two(values);
  const bool log = range.low > 0 && (wants_log(chart.x.scale, range) || (binary && chart.x.scale == Scale::kAuto));
  ScaledAxis axis;
  axis.scale = log ? Scale::kLog : Scale::kLinear;
  axis.low = range.low;
  axis.high = range.high;
  if (chart.kind != ChartKind::kArea && readable_apart(axis, values)) {
    axis.ticks = labelled({values.begin(), values.end()});
    return axis;
  }
  const std::vector<double> ticks = log && binary ? binary_ticks(range.low, range.high)
                                    : log         ? log_ticks(range.low, range.high)
                                                  : linear_ticks(range.low, range.high, kTargetTicks + 2);
  for (const Tick& tick : labelled(ticks)) {
    if (tick.value >= axis.low - 1e-12 && tick.value <= axis.high * (1 + 1e-12)) axis.ticks.push_back(tick);
  }
  return axis;
}

std::vector<StateLabel> state_labels(const Chart& chart) {
  std::map<double, std::vector<StateLabel>> groups;
  std::set<double> figures;
  const double middle = (static_cast<double>(chart.series.size()) - 1) / 2;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    for (const Point& point : chart.series[s].points) {
      if (point.y) figures.insert(point.x);
      if (!point.y)
        groups[point.x].push_back({point.x, chart.stacked ? 0 : static_cast<double>(s) - middle, point.state});
    }
  }
  std::vector<StateLabel> labels;
  for (auto& [x, group] : groups) {
    if (chart.stacked && figures.contains(x)) continue;  // the label would overlap the bar
    const bool same = std::all_of(group.begin(), group.end(),
                                  [&group](const StateLabel& each) { return each.text == group.front().text; });
    if (same && (chart.stacked || group.size() == chart.series.size())) group = {{x, 0, group.front().text}};
    labels.insert(labels.end(), group.begin(), group.end());
  }
  return labels;
}

std::size_t label_stride(const ScaledAxis& axis, double width, double font_size) {
  const auto touch = [&](std::size_t stride) {
    double end = -width;
    for (std::size_t i = 0; i < axis.ticks.size(); i += stride) {
      const double at = axis.position(axis.ticks[i].value) * width;
      const double half = text_width(axis.ticks[i].label, font_size) / 2;
      if (at - half < end) return true;
      end = at + half + font_size / 3;
    }
    return false;
  };
  std::size_t stride = 1;
  while (touch(stride)) ++stride;  // a single label touches none
  return stride;
}

std::string axis_heading(const Axis& axis) {
  return axis.unit.empty() ? axis.title : axis.title + " (" + axis.unit + ")";
}

std::string reference_line_label(const Chart& chart) {
  if (!chart.reference_line) return "";
  constexpr std::size_t kLongestTitle = 60;
  constexpr std::size_t kLongestUnit = 24;
  std::string value = significant_text(chart.reference_line->value, 4);
  if (value.find('.') != std::string::npos && value.find('e') == std::string::npos) {
    value.erase(value.find_last_not_of('0') + 1);
    if (value.back() == '.') value.pop_back();
  }
  const std::string unit = chart.y.unit.empty() ? "" : " " + shortened(printable(chart.y.unit), kLongestUnit);
  const std::string title = shortened(printable(chart.reference_line->title), kLongestTitle);
  if (has_several_reference_lines(chart)) return title;
  return title + " (" + grouped(value) + unit + ")";
}

}  // namespace kymo::report
