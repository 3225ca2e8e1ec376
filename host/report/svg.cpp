// SPDX-License-Identifier: Apache-2.0
#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/area.hpp"
#include "report/axis.hpp"
#include "report/escape.hpp"
#include "report/number.hpp"
#include "report/palette.hpp"
#include "report/roofline_picture.hpp"
#include "report/svg_canvas.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

constexpr double kWidth = 760;
constexpr double kPlotHeight = 290;
constexpr double kLineHeight = 18;
constexpr double kBandHeight = 18;  // height of the strip with the band labels
constexpr double kRotation = 35;    // rotation of long category labels in degrees

class ChartDrawing {
  static constexpr double kRight = 20;

 public:
  explicit ChartDrawing(const Chart& chart)
      : chart_(chart), y_(value_axis(chart)), on_categories_(!chart.categories.empty()) {
    if (!on_categories_) x_ = point_axis(chart);
    for (const std::string& category : chart.categories)
      labels_.push_back(shortened(printable(category), kMaxLabelLength));
    lay_out();
    draw_bands();
    draw_grid();
    draw_legend();
    draw_x_labels();
    draw_reference_line();
    switch (chart.kind) {
      case ChartKind::kBar:
        draw_bars();
        break;
      case ChartKind::kLine:
        draw_lines();
        break;
      case ChartKind::kArea:
        draw_areas();
        break;
      case ChartKind::kTimeline:
      case ChartKind::kRoofline:
        break;  // drawn separately
    }
    draw_axes();
  }

  double height() const { return height_; }
  const std::string& body() const { return canvas_.body(); }

 private:
  void lay_out() {
    double widest_tick = 0;
    for (const Tick& tick : y_.ticks) widest_tick = std::max(widest_tick, text_width(tick.label));
    left_ = 30 + widest_tick + 10;
    lay_out_legend();
    top_ = legend_.empty() ? 14 : 12 + kLineHeight * (legend_.back().row + 1);
    if (!chart_.bands.empty()) top_ += kBandHeight;
    double below = 24;
    if (on_categories_) below = lay_out_categories();
    bottom_ = top_ + kPlotHeight;
    height_ = bottom_ + below + (axis_heading(chart_.x).empty() ? 0 : 22) + 6;
    heading_y_ = bottom_ + below + 14;
  }

  // Returns the height required by the labels.
  double lay_out_categories() {
    double widest = 0;
    for (const std::string& label : labels_) widest = std::max(widest, text_width(label));
    rotated_labels_ = widest > slot() - 8;
    if (!rotated_labels_) return 24;
    const double angle = kRotation * M_PI / 180;
    left_ = std::max(left_, widest * std::cos(angle) + 12 - slot() / 2);
    every_ = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(16 / slot())));
    return widest * std::sin(angle) + 20;
  }

  struct LegendEntry {
    std::string text;
    double x = 0;
    int row = 0;
  };
  void lay_out_legend() {
    std::vector<std::string> texts;
    if (chart_.series.size() > 1) {
      for (const Series& series : chart_.series) texts.push_back(shortened(printable(series.name), kMaxLegendLength));
    }
    if (chart_.reference_line) texts.push_back(reference_line_label(chart_));
    double x = left_;
    int row = 0;
    for (const std::string& text : texts) {
      LegendEntry entry{text, x, row};
      const double width = 18 + text_width(entry.text) + 18;
      if (x + width > kWidth - kRight && x > left_) {
        x = left_;
        entry.x = x;
        entry.row = ++row;
      }
      x += width;
      legend_.push_back(entry);
    }
  }

  double slot() const {
    return (kWidth - kRight - left_) / static_cast<double>(std::max<std::size_t>(1, chart_.categories.size()));
  }
  double y_at(double value) const { return bottom_ - y_.position(value) * kPlotHeight; }
  double x_at(double value) const {
    if (on_categories_) return left_ + (value + 0.5) * slot();
    const double inset = chart_.kind == ChartKind::kArea ? 0 : 14;
    return left_ + inset + x_.position(value) * (kWidth - kRight - left_ - 2 * inset);
  }
  double base_y() const { return y_.scale == Scale::kLog ? bottom_ : y_at(0); }

  void draw_grid() {
    for (const Tick& tick : y_.ticks) {
      const double y = y_at(tick.value);
      canvas_.line(left_, y, kWidth - kRight, y, "kg", SvgCanvas::kGrid, 1);
      canvas_.text(left_ - 8, y + 4, tick.label, Anchor::kEnd, 0, true);
    }
    canvas_.text(16, (top_ + bottom_) / 2, axis_heading(chart_.y), Anchor::kMiddle, -90);
  }

  void draw_legend() {
    for (std::size_t i = 0; i < legend_.size(); ++i) {
      const LegendEntry& entry = legend_[i];
      const double y = 14 + kLineHeight * entry.row;
      if (chart_.reference_line && i + 1 == legend_.size()) {
        canvas_.dashes(entry.x - 1, y - 4, entry.x + 13, y - 4, SvgCanvas::kInk, "");
      } else if (chart_.kind == ChartKind::kLine) {
        canvas_.polyline({{entry.x - 1, y - 4}, {entry.x + 13, y - 4}}, colour_of(chart_, i));
        canvas_.marker(entry.x + 6, y - 4, colour_of(chart_, i), "");
      } else {
        canvas_.bar(entry.x, y - 10, 12, 12, colour_of(chart_, i), "");
      }
      canvas_.text(entry.x + 18, y, entry.text, Anchor::kStart);
    }
  }

  void draw_x_labels() {
    if (on_categories_) {
      for (std::size_t i = 0; i < labels_.size(); i += every_) {
        const double x = x_at(static_cast<double>(i));
        canvas_.text(rotated_labels_ ? x + 4 : x, bottom_ + (rotated_labels_ ? 16 : 18), labels_[i],
                     rotated_labels_ ? Anchor::kEnd : Anchor::kMiddle, rotated_labels_ ? -kRotation : 0, true);
      }
    } else {
      for (const Tick& tick : x_.ticks) {
        const double x = x_at(tick.value);
        canvas_.line(x, bottom_, x, bottom_ + 5, "ka", SvgCanvas::kInk, 1);
        canvas_.text(x, bottom_ + 18, tick.label, Anchor::kMiddle, 0, true);
      }
    }
    if (const std::string heading = axis_heading(chart_.x); !heading.empty()) {
      canvas_.text((left_ + kWidth - kRight) / 2, heading_y_, heading, Anchor::kMiddle);
    }
  }

  void draw_reference_line() {
    if (!chart_.reference_line) return;
    const double y = y_at(chart_.reference_line->value);
    canvas_.dashes(left_, y, kWidth - kRight, y, SvgCanvas::kInk, reference_line_label(chart_));
  }

  void draw_axes() { canvas_.line(left_, base_y(), kWidth - kRight, base_y(), "ka", SvgCanvas::kInk, 1); }

  std::string tooltip(const Series& series, const Point& point) const {
    const auto index = static_cast<std::size_t>(point.x);
    const bool named = on_categories_ && index < chart_.categories.size();
    std::string text = named ? chart_.categories[index] : significant_text(point.x, 6);
    if (chart_.series.size() > 1) text += ", " + series.name;
    text += ": " + significant_text(*point.y, 4);
    if (point.error) text += " ± " + significant_text(*point.error, 2);
    return chart_.y.unit.empty() ? text : text + " " + chart_.y.unit;
  }

  void draw_error(double x, const Point& point) {
    if (!point.error || *point.error <= 0) return;
    const double high = y_at(*point.y + *point.error);
    const double low = y_at(*point.y - *point.error);
    const double cap = 3;
    canvas_.line(x, high, x, low, "ka", SvgCanvas::kInk, 1.2);
    canvas_.line(x - cap, high, x + cap, high, "ka", SvgCanvas::kInk, 1.2);
    // No cap where the error bar is clipped, because that is not its end.
    if (*point.y - *point.error >= y_.low) canvas_.line(x - cap, low, x + cap, low, "ka", SvgCanvas::kInk, 1.2);
  }

  // Each bar is placed on those of the previous series.
  void draw_stacked_bars() {
    const double width = std::min(slot() * 0.62, 90.0);
    std::map<double, double> sums;
    for (std::size_t s = 0; s < chart_.series.size(); ++s) {
      for (const Point& point : chart_.series[s].points) {
        if (!point.y) continue;
        double& sum = sums[point.x];
        const double foot = y_at(sum);
        sum += *point.y;
        canvas_.bar(x_at(point.x) - width / 2, y_at(sum), width, foot - y_at(sum), colour_of(chart_, s),
                    tooltip(chart_.series[s], point));
      }
    }
    draw_states(width);
  }

  void draw_bars() {
    if (chart_.stacked) return draw_stacked_bars();
    const double group = std::min(slot() * 0.78, 90.0 * static_cast<double>(chart_.series.size()));
    const double width = group / static_cast<double>(chart_.series.size());
    for (std::size_t s = 0; s < chart_.series.size(); ++s) {
      for (const Point& point : chart_.series[s].points) {
        const double x = x_at(point.x) - group / 2 + width * static_cast<double>(s);
        if (!point.y) continue;
        const double top = y_at(std::max(*point.y, 0.0));
        const double foot = *point.y < 0 ? y_at(*point.y) : base_y();
        const double gap = width > 6 ? 1 : 0;
        canvas_.bar(x + gap / 2, *point.y < 0 ? base_y() : top, width - gap,
                    std::max(0.5, *point.y < 0 ? foot - base_y() : foot - top), colour_of(chart_, s),
                    tooltip(chart_.series[s], point));
        draw_error(x + width / 2, point);
      }
    }
    draw_states(width);
  }

  void draw_states(double width) {
    for (const StateLabel& label : state_labels(chart_)) {
      canvas_.text(x_at(label.x) + label.offset * width + 4, base_y() - 6, shortened(printable(label.text), 20),
                   Anchor::kStart, -90, true);
    }
  }

  void draw_lines() {
    for (std::size_t s = 0; s < chart_.series.size(); ++s) {
      std::vector<std::pair<double, double>> interval;
      for (const Point& point : chart_.series[s].points) {
        if (point.y) {
          interval.emplace_back(x_at(point.x), y_at(*point.y));
        } else {
          canvas_.polyline(interval, colour_of(chart_, s));  // a missing point leaves a gap
          interval.clear();
        }
      }
      canvas_.polyline(interval, colour_of(chart_, s));
      for (const Point& point : chart_.series[s].points) {
        if (!point.y) continue;
        draw_error(x_at(point.x), point);
        canvas_.marker(x_at(point.x), y_at(*point.y), colour_of(chart_, s), tooltip(chart_.series[s], point));
      }
    }
  }

  void draw_areas() {
    for (std::size_t s = 0; s < chart_.series.size(); ++s) {
      std::vector<std::pair<double, double>> corners;
      for (const auto& [x, y] : area_corners(chart_, s)) corners.emplace_back(x_at(x), y_at(y));
      canvas_.polygon(corners, colour_of(chart_, s), chart_.series[s].name);
    }
  }

  void draw_bands() {
    bool shaded = true;
    for (const Band& band : chart_.bands) {
      const double left = x_at(band.start);
      const double width = x_at(band.end) - left;
      if (shaded) canvas_.shade(left, top_ - kBandHeight, width, kPlotHeight + kBandHeight, band.label);
      canvas_.line(left, top_ - kBandHeight, left, bottom_, "kg", SvgCanvas::kGrid, 1);
      shaded = !shaded;
      if (!band.label.empty()) canvas_.text(left + width / 2, top_ - 5, band.label, Anchor::kMiddle, 0, true);
    }
  }

  const Chart& chart_;
  ScaledAxis y_;
  ScaledAxis x_;
  bool on_categories_;
  bool rotated_labels_ = false;
  std::size_t every_ = 1;
  std::vector<std::string> labels_;
  std::vector<LegendEntry> legend_;
  SvgCanvas canvas_;
  double left_ = 0, top_ = 0, bottom_ = 0, height_ = 0, heading_y_ = 0;
};

SvgDrawing draw_roofline(const Chart& chart) {
  using Stroke = RooflinePicture::Stroke;
  const RooflinePicture picture = roofline_picture(chart, kWidth);
  SvgCanvas canvas;
  if (picture.strip_right > picture.strip_left) {
    canvas.shade(picture.strip_left, picture.top, picture.strip_right - picture.strip_left,
                 picture.bottom - picture.top, "no floating-point operations");
  }
  const auto draw = [&canvas](const RooflinePicture::Line& line) {
    const bool grid = line.stroke == Stroke::kGrid;
    const double thickness = line.stroke == Stroke::kRoof ? 2 : line.stroke == Stroke::kLeader ? 0.7 : 1;
    canvas.line(line.x1, line.y1, line.x2, line.y2, grid ? "kg" : "ka", grid ? SvgCanvas::kGrid : SvgCanvas::kInk,
                thickness);
  };
  for (const auto& line : picture.lines) {
    if (line.stroke != Stroke::kLeader) draw(line);
  }
  for (const auto& each : picture.circles)
    canvas.circle(each.x, each.y, each.radius, each.colour, each.filled, each.tooltip);
  for (const auto& line : picture.lines) {
    if (line.stroke == Stroke::kLeader) draw(line);
  }
  for (const auto& each : picture.texts) canvas.text(each.x, each.y, each.text, each.anchor, each.rotation, each.muted);
  return {canvas.body(), picture.height};
}

SvgDrawing drawing_of(const Chart& chart) {
  if (chart.kind == ChartKind::kTimeline) return draw_timeline(chart, kWidth);
  if (chart.kind == ChartKind::kRoofline) return draw_roofline(chart);
  const Chart shown = chart.kind == ChartKind::kArea ? area_picture(chart).chart : chart;
  const ChartDrawing drawing(shown);
  return {drawing.body(), drawing.height()};
}

// Text for screen readers, for which the texts of the picture are hidden.
std::string spoken_title(const Chart& chart) {
  return chart.reference_line ? chart.caption + " Dashed: " + reference_line_label(chart) + "." : chart.caption;
}

std::string svg_element(const Chart& chart, std::string_view attributes, std::string_view before) {
  const SvgDrawing drawing = drawing_of(chart);
  return fmt::format(
      "<svg class=\"kymo-chart\" viewBox=\"0 0 {:.0f} {:.0f}\"{} role=\"img\" font-family=\"system-ui, -apple-system, "
      "'Segoe UI', Roboto, "
      "Helvetica, "
      "Arial, sans-serif\" font-size=\"12\">\n<title>{}</title>\n{}{}</svg>\n",
      kWidth, drawing.height, attributes, escape_html(spoken_title(chart)), before, drawing.body);
}

}  // namespace

std::string chart_css() {
  std::string css =
      "@media (prefers-color-scheme: dark) {\n.kymo-chart .kt { fill: #e6e9ec }\n.kymo-chart .km { fill: #9aa4af "
      "}\n.kymo-chart .ka { "
      "stroke: #c3cad1 }\n"
      ".kymo-chart .kg { stroke: #30363d }\n.kymo-chart .kb, .kymo-chart .ki { fill: #16191d }\n.kymo-chart .ks { "
      "fill: #22272e }\n";
  for (std::size_t i = 0; i < kPalette.size(); ++i) {
    css += fmt::format(".kymo-chart .kf{0} {{ fill: #{1} }}\n.kymo-chart .kl{0} {{ stroke: #{1} }}\n", i,
                       kPalette[i].dark);
  }
  return css + "}\n";
}

std::string inline_svg(const Chart& chart) { return svg_element(chart, "", ""); }

std::string standalone_svg(const Chart& chart) {
  const std::string size = fmt::format(" xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\"", kWidth);
  return svg_element(
      chart, size,
      "<style>\n" + chart_css() + "</style>\n<rect class=\"kb\" width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n");
}

OutputFile picture_file(const Chart& chart) { return {"figures/" + chart.name + ".svg", standalone_svg(chart)}; }

}  // namespace kymo::report
