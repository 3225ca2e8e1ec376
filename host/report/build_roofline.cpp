// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/build.hpp"
#include "report/number.hpp"

namespace kymo::report {
namespace {

struct LogRange {
  double low = INFINITY;
  double high = 0;

  void take(double value) {
    if (!std::isnormal(value) || value < 0) return;
    constexpr double kLargest = 1e300;  // leaves room at the ends of the axis
    low = std::min(low, std::clamp(value, 1 / kLargest, kLargest));
    high = std::max(high, std::clamp(value, 1 / kLargest, kLargest));
  }
  double decades() const { return std::log10(high) - std::log10(low); }
  /// At least two decades around this range; that of an empty range is `fallback`.
  LogRange widened(double factor, const LogRange& fallback) const {
    if (high == 0) return fallback;
    const double missing = 2 - decades() - 2 * std::log10(factor);
    factor *= std::pow(10.0, std::max(0.0, missing / 2));
    return {low / factor, high * factor};
  }
  /// Same, but ends shortly above the highest value, which marks are compared with.
  LogRange widened_down(double factor, const LogRange& fallback) const {
    if (high == 0) return fallback;
    constexpr double kAbove = 1.8;
    const double missing = 2 - decades() - std::log10(factor * kAbove);
    return {low / factor / std::pow(10.0, std::max(0.0, missing)), high * kAbove};
  }
};

class RooflineBuilder {
 public:
  RooflineBuilder(const ChartSpec& spec, std::vector<std::string> classes) : spec_(spec) {
    chart_.kind = ChartKind::kRoofline;
    chart_.caption = spec.query.caption;
    chart_.x = {"operations per byte", "FLOP/B", Scale::kLog};
    chart_.y = {"operations per second", "FLOP/s", Scale::kLog};
    roofline_.classes = std::move(classes);
  }

  std::optional<Chart> build(const Result& points, const Result& roofs) {
    add_roofs(roofs);
    add_marks(points);
    if (roofline_.marks.empty() && roofline_.roofs.empty()) return std::nullopt;
    std::stable_sort(roofline_.marks.begin(), roofline_.marks.end(),
                     [](const RooflineMark& a, const RooflineMark& b) { return a.ms > b.ms; });
    std::stable_sort(roofline_.roofs.begin(), roofline_.roofs.end(),
                     [](const Roof& a, const Roof& b) { return a.rate > b.rate; });
    share_scales({&roofline_});
    chart_.caption += largest() + without_mark();
    return std::move(chart_);
  }

 private:
  void add_roofs(const Result& result) {
    const QueryFile& query = *spec_.roofs;
    const std::size_t label = require_column(query, result, "label");
    const std::size_t kind = require_column(query, result, "kind");
    const std::size_t rate = require_column(query, result, "rate");
    for (const auto& row : result.rows) {
      const std::string word = text_of(row[kind]);
      if (word != "memory" && word != "compute")
        throw UsageError(query.name + ": column 'kind' must contain 'memory' or 'compute', not " + quote(word));
      const auto value = number_of(row[rate]);
      if (value && *value > 0) roofline_.roofs.push_back({label_of(row[label]), word == "memory", *value});
    }
  }

  void add_marks(const Result& result) {
    const QueryFile& query = spec_.query;
    const std::size_t label = require_column(query, result, "label");
    const std::size_t name = require_column(query, result, "class");
    const std::size_t flops = require_column(query, result, "flops");
    const std::size_t bytes = require_column(query, result, "bytes");
    const std::size_t time = require_column(query, result, "ms");
    const auto detail = find_column(result, "detail");
    for (const auto& row : result.rows) {
      RooflineMark mark{label_of(row[label]), detail ? text_of(row[*detail]) : "", class_index(label_of(row[name]))};
      mark.flops = number_of(row[flops]).value_or(-1);
      mark.bytes = number_of(row[bytes]).value_or(0);
      mark.ms = number_of(row[time]).value_or(0);
      if (can_be_drawn(mark)) {
        roofline_.marks.push_back(std::move(mark));
      } else {
        missing_ms_.resize(roofline_.classes.size(), -1);
        double& sum = missing_ms_[mark.mark_class];
        sum = std::max(sum, 0.0) + std::max(mark.ms, 0.0);
      }
    }
  }

  // Quotients must have a logarithm.
  static bool can_be_drawn(const RooflineMark& mark) {
    const bool has_time_and_bytes = mark.ms > 0 && mark.bytes > 0 && std::isnormal(mark.byte_rate());
    return has_time_and_bytes &&
           (mark.flops == 0 || (mark.flops > 0 && std::isnormal(mark.flop_rate()) && std::isnormal(mark.intensity())));
  }

  std::size_t class_index(const std::string& name) {
    auto& classes = roofline_.classes;
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found != classes.end()) return static_cast<std::size_t>(found - classes.begin());
    classes.push_back(name);
    return classes.size() - 1;
  }

  static std::string in_ms(double ms) { return " (" + significant_text(ms, 3) + " ms)"; }

  std::string largest() const {
    constexpr std::size_t kNamed = 5;
    std::vector<std::string> names;
    for (const RooflineMark& mark : roofline_.marks) {
      if (names.size() == kNamed) break;
      names.push_back(mark.label + in_ms(mark.ms));
    }
    if (names.empty()) return "";
    return " The area of a mark is proportional to its time; the largest: " + join(names, "; ") + ".";
  }

  std::string without_mark() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < missing_ms_.size(); ++i) {
      if (missing_ms_[i] >= 0) names.push_back(roofline_.classes[i] + in_ms(missing_ms_[i]));
    }
    return names.empty() ? "" : " Without a mark, for lack of known work or time: " + join(names, ", ") + ".";
  }

  const ChartSpec& spec_;
  Chart chart_;
  Roofline& roofline_ = chart_.roofline;
  std::vector<double> missing_ms_;  // by class; negative: none is missing
};

}  // namespace

void share_scales(const std::vector<Roofline*>& rooflines) {
  // Marks with less than a thousandth of the time do not extend the axes.
  const auto counting = [](const Roofline& roofline) {
    double total_ms = 0, longest_ms = 0;
    for (const RooflineMark& mark : roofline.marks) {
      total_ms += mark.ms;
      longest_ms = std::max(longest_ms, mark.ms);
    }
    std::vector<RooflineMark> marks;
    std::copy_if(roofline.marks.begin(), roofline.marks.end(), std::back_inserter(marks),
                 [&](const RooflineMark& mark) { return mark.ms >= std::min(total_ms / 1000, longest_ms); });
    return marks;
  };
  LogRange x, y;
  double longest_ms = 0, ridge_low = INFINITY, ridge_high = 0;
  for (const Roofline* each : rooflines) {
    for (const RooflineMark& mark : counting(*each)) {
      longest_ms = std::max(longest_ms, mark.ms);
      x.take(mark.intensity());
      y.take(mark.flop_rate());
    }
    for (const Roof& roof : each->roofs) {
      if (roof.memory) continue;
      y.take(roof.rate);
      for (const Roof& other : each->roofs) {
        const double ridge = other.memory ? roof.rate / other.rate : 0;
        if (!std::isnormal(ridge)) continue;
        ridge_low = std::min(ridge_low, ridge);
        ridge_high = std::max(ridge_high, ridge);
      }
    }
  }
  // Some of the slope and of the ceiling are visible.
  constexpr double kBeforeRidge = 30, kAfterRidge = 5;
  x.take(ridge_low / kBeforeRidge);
  x.take(ridge_high * kAfterRidge);
  x = x.widened(1.6, {0.1, 100});
  for (const Roofline* each : rooflines) {
    for (const RooflineMark& mark : counting(*each)) {
      if (mark.flops == 0) y.take(x.low * mark.byte_rate());
    }
    for (const Roof& roof : each->roofs) {
      if (roof.memory) y.take(x.low * roof.rate);
    }
  }
  y = y.widened_down(3, {1e6, 1e9});
  for (Roofline* each : rooflines) {
    each->longest_ms = longest_ms;
    each->x_low = x.low;
    each->x_high = x.high;
    each->y_low = y.low;
    each->y_high = y.high;
  }
}

std::optional<Chart> build_roofline(const ChartSpec& spec, const Result& points, const Result& roofs,
                                    const std::vector<std::string>& classes) {
  return RooflineBuilder(spec, classes).build(points, roofs);
}

}  // namespace kymo::report
