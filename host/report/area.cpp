// SPDX-License-Identifier: Apache-2.0
#include "report/area.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "report/svg_canvas.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

constexpr std::size_t kMaxPositions = 360;
constexpr double kPlotEm = 52;  // width of the plot in units of its smallest font, similar on screen and on paper

double sum_at(const AreaLayers& layers, std::size_t i) {
  double sum = 0;
  for (const auto& series : layers.values) sum += series[i];
  return sum;
}

void append_column(AreaLayers& to, double x, const AreaLayers& from, std::size_t i) {
  to.x.push_back(x);
  for (std::size_t s = 0; s < from.values.size(); ++s) to.values[s].push_back(from.values[s][i]);
}

double highest_sum(const AreaLayers& layers) {
  double highest = 0;
  for (std::size_t i = 0; i < layers.x.size(); ++i) highest = std::max(highest, sum_at(layers, i));
  return highest;
}

std::string nameless_note(std::vector<std::string> names) {
  constexpr std::size_t kMaxNames = 8;
  const std::size_t count = names.size();
  if (count > kMaxNames) names.resize(kMaxNames);
  return "Bands without a label, from left to right: " + join(names, ", ") +
         (count > kMaxNames ? fmt::format(" and {} more.", count - kMaxNames) : ".");
}

// A curve with a single row would have zero width.
void widen(AreaLayers& layers, const Chart& chart) {
  if (layers.x.size() != 1) return;
  double end = layers.x.front() + 1;
  for (const Band& band : chart.bands) end = std::max(end, band.end);
  append_column(layers, end, AreaLayers(layers), 0);
}

template <std::size_t kCount>
ShownUnit unit_for(const std::array<ShownUnit, kCount>& units, double value) {
  ShownUnit chosen = units.front();
  for (const ShownUnit& unit : units) {
    if (value >= unit.size) chosen = unit;
  }
  return chosen;
}

}  // namespace

ShownUnit time_unit(double span_ns) {
  static const std::array<ShownUnit, 4> kUnits{{{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  return unit_for(kUnits, span_ns);
}

ShownUnit byte_unit(double largest_bytes) {
  static const std::array<ShownUnit, 5> kUnits{
      {{"B", 1}, {"KiB", 1024.0}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}}};
  return unit_for(kUnits, largest_bytes);
}

AreaLayers area_layers(const Chart& chart) {
  // Counting points at the same position per series keeps several rows at one position in order.
  std::map<double, std::size_t> copies;
  for (const Series& series : chart.series) {
    std::map<double, std::size_t> own;
    for (const Point& point : series.points) {
      std::size_t& count = copies[point.x];
      count = std::max(count, ++own[point.x]);
    }
  }
  AreaLayers layers;
  for (const auto& [x, count] : copies) layers.x.insert(layers.x.end(), count, x);
  for (const Series& series : chart.series) {
    std::vector<double>& values = layers.values.emplace_back();
    double held = 0;
    std::size_t next = 0;
    for (const double x : layers.x) {
      if (next < series.points.size() && series.points[next].x == x) held = series.points[next++].y.value_or(held);
      values.push_back(held);
    }
  }
  return layers;
}

AreaLayers max_of_intervals(const AreaLayers& layers, std::size_t most) {
  if (layers.x.size() <= most) return layers;
  AreaLayers out{{}, std::vector<std::vector<double>>(layers.values.size())};
  const double low = layers.x.front();
  const double width = (layers.x.back() - low) / static_cast<double>(most - 1);
  std::size_t next = 0;
  for (std::size_t interval = 0; interval < most; ++interval) {
    const double begin = low + width * static_cast<double>(interval);
    const double end = interval + 1 == most ? INFINITY : begin + width;
    // The value carried over from before also counts, unless the interval starts with a row of its own.
    std::size_t best = next > 0 && layers.x[std::min(next, layers.x.size() - 1)] > begin ? next - 1 : next;
    best = std::min(best, layers.x.size() - 1);
    for (; next < layers.x.size() && layers.x[next] < end; ++next) {
      if (sum_at(layers, next) > sum_at(layers, best)) best = next;
    }
    append_column(out, begin, layers, best);
  }
  return out;
}

AreaPicture area_picture(const Chart& chart) {
  AreaPicture picture;
  AreaLayers layers = area_layers(chart);
  const std::size_t rows = layers.x.size();
  layers = max_of_intervals(layers, kMaxPositions);
  if (layers.x.size() < rows)
    picture.notes.push_back(
        fmt::format("The figure shows the highest sum in each of {} equal intervals.", kMaxPositions));
  widen(layers, chart);

  Chart& shown = picture.chart;
  shown.name = chart.name;
  shown.caption = chart.caption;
  shown.kind = chart.kind;
  shown.x = chart.x;
  shown.y = chart.y;
  const double origin = chart.x.nanoseconds ? layers.x.front() : 0;
  const ShownUnit x_unit = chart.x.nanoseconds ? time_unit(layers.x.back() - origin) : ShownUnit{chart.x.unit, 1};
  const ShownUnit y_unit = chart.y.bytes ? byte_unit(highest_sum(layers)) : ShownUnit{chart.y.unit, 1};
  shown.x.unit = x_unit.name;
  shown.y.unit = y_unit.name;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    Series& series = shown.series.emplace_back(Series{chart.series[s].name, {}});
    for (std::size_t i = 0; i < layers.x.size(); ++i)
      series.points.push_back(
          {(layers.x[i] - origin) / x_unit.size, layers.values[s][i] / y_unit.size, std::nullopt, ""});
  }
  std::vector<std::string> nameless;
  for (const Band& band : chart.bands) {
    const double start = std::max(band.start, layers.x.front());
    const double end = std::min(band.end, layers.x.back());
    if (start > end) continue;
    const double room_em = (end - start) / (layers.x.back() - layers.x.front()) * kPlotEm;
    const std::string label = shortened(printable(band.label), kMaxLabelLength);
    const bool fits = text_width(label, 1) + 0.4 < room_em;
    if (!fits) nameless.push_back(label);
    shown.bands.push_back({fits ? label : "", (start - origin) / x_unit.size, (end - origin) / x_unit.size});
  }
  if (!nameless.empty()) picture.notes.push_back(nameless_note(std::move(nameless)));
  return picture;
}

std::vector<std::pair<double, double>> area_corners(const Chart& picture, std::size_t series) {
  const std::size_t count = picture.series[series].points.size();
  std::vector<std::pair<double, double>> top;
  std::vector<std::pair<double, double>> bottom;
  const auto add = [](std::vector<std::pair<double, double>>& line, double x, double y) {
    if (!line.empty()) {
      if (line.back().second == y && line.size() > 1 && line[line.size() - 2].second == y) line.pop_back();
      if (line.back().second != y) line.emplace_back(x, line.back().second);
    }
    line.emplace_back(x, y);
  };
  for (std::size_t i = 0; i < count; ++i) {
    double floor = 0;
    for (std::size_t below = 0; below < series; ++below) floor += *picture.series[below].points[i].y;
    const Point& point = picture.series[series].points[i];
    add(bottom, point.x, floor);
    add(top, point.x, floor + *point.y);
  }
  top.insert(top.end(), bottom.rbegin(), bottom.rend());
  return top;
}

}  // namespace kymo::report
