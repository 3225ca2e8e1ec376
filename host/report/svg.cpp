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
#include "report/panels.hpp"
#include "report/svg_canvas.hpp"
#include "report/svg_legend.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

constexpr double kWidth = 760;
constexpr double kPlotHeight = 290;
constexpr double kBandHeight = 18;  // height of the strip with the band labels
constexpr double kRotation = 35;    // rotation of long category labels in degrees
constexpr double kRight = 20;
constexpr double kInset = 14;         // between the ends of the x axis and its first and last point
constexpr double kHeadingWidth = 30;  // of the heading of the value axis

double widest_label(const ScaledAxis& axis) {
  double widest = 0;
  for (const Tick& tick : axis.ticks) widest = std::max(widest, text_width(tick.label));
  return widest;
}

void draw_y_heading(SvgCanvas& canvas, const Chart& chart, double top, double bottom) {
  canvas.text(16, (top + bottom) / 2, axis_heading(chart.y), Anchor::kMiddle, -90);
}

void draw_x_heading(SvgCanvas& canvas, const Chart& chart, double left, double right, double y) {
  if (const std::string heading = axis_heading(chart.x); !heading.empty())
    canvas.text((left + right) / 2, y, heading, Anchor::kMiddle);
}

/// Which parts of a chart a drawing has, and where; the plots of panels share what is around them.
struct Frame {
  double left = 0;  ///< of the plot; 0: as the labels of its axis require
  double right = kWidth - kRight;
  double top = 0;  ///< of the plot; 0: below the legend
  double plot_height = kPlotHeight;
  bool has_y_labels = true;
  bool has_x_labels = true;
  const Chart* axes = nullptr;  ///< of this chart; null: its own
};

class ChartDrawing {
 public:
  ChartDrawing(const Chart& chart, const Frame& frame)
      : chart_(chart),
        frame_(frame),
        y_(value_axis(frame.axes != nullptr ? *frame.axes : chart)),
        on_categories_(!chart.categories.empty()) {
    if (!on_categories_) x_ = point_axis(frame.axes != nullptr ? *frame.axes : chart);
    for (const std::string& category : chart.categories)
      labels_.push_back(shortened(printable(category), kMaxLabelLength));
    lay_out();
    draw_bands();
    draw_grid();
    if (is_panel()) {
      draw_title();
    } else {
      draw_y_heading(canvas_, chart_, top_, bottom_);
      draw_legend(canvas_, chart_, legend_);
    }
    draw_x_labels();
    if (!is_panel()) draw_x_heading(canvas_, chart_, left_, frame_.right, heading_y_);
    draw_reference_line();
    draw_plot();
    draw_axes();
  }

  double height() const { return height_; }
  const std::string& body() const { return canvas_.body(); }

 private:
  bool is_panel() const { return frame_.axes != nullptr; }

  void draw_plot() {
    switch (chart_.kind) {
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
  }

  void lay_out() {
    left_ = frame_.left > 0 ? frame_.left : kHeadingWidth + widest_label(y_) + 10;
    if (!is_panel()) legend_ = lay_out_legend(chart_, left_, kWidth - kRight);
    top_ = frame_.top > 0 ? frame_.top : legend_height(legend_);
    if (!chart_.bands.empty()) top_ += kBandHeight;
    double below = 24;
    if (on_categories_) below = lay_out_categories();
    bottom_ = top_ + frame_.plot_height;
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
    if (!is_panel()) left_ = std::max(left_, widest * std::cos(angle) + 12 - slot() / 2);
    every_ = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(16 / slot())));
    return widest * std::sin(angle) + 20;
  }

  double slot() const {
    return (frame_.right - left_) / static_cast<double>(std::max<std::size_t>(1, chart_.categories.size()));
  }
  double y_at(double value) const { return bottom_ - y_.position(value) * frame_.plot_height; }
  double x_at(double value) const {
    if (on_categories_) return left_ + (value + 0.5) * slot();
    const double inset = chart_.kind == ChartKind::kArea ? 0 : kInset;
    return left_ + inset + x_.position(value) * (frame_.right - left_ - 2 * inset);
  }
  double base_y() const { return y_.scale == Scale::kLog ? bottom_ : y_at(0); }

  void draw_grid() {
    for (const Tick& tick : y_.ticks) {
      const double y = y_at(tick.value);
      canvas_.line(left_, y, frame_.right, y, "kg", SvgCanvas::kGrid, 1);
      if (frame_.has_y_labels) canvas_.text(left_ - 8, y + 4, tick.label, Anchor::kEnd, 0, true);
    }
  }

  void draw_title() {
    const double letters = (frame_.right - left_) / text_width("n");
    canvas_.text(left_, top_ - 7, shortened(printable(chart_.caption), static_cast<std::size_t>(letters)),
                 Anchor::kStart);
  }

  void draw_x_labels() {
    if (on_categories_ && frame_.has_x_labels) {
      for (std::size_t i = 0; i < labels_.size(); i += every_) {
        const double x = x_at(static_cast<double>(i));
        canvas_.text(rotated_labels_ ? x + 4 : x, bottom_ + (rotated_labels_ ? 16 : 18), labels_[i],
                     rotated_labels_ ? Anchor::kEnd : Anchor::kMiddle, rotated_labels_ ? -kRotation : 0, true);
      }
    } else if (!on_categories_) {
      const std::size_t stride = is_panel() ? label_stride(x_, frame_.right - left_ - 2 * kInset, kSvgFontSize) : 1;
      for (std::size_t i = 0; i < x_.ticks.size(); ++i) {
        const double x = x_at(x_.ticks[i].value);
        canvas_.line(x, bottom_, x, bottom_ + 5, "ka", SvgCanvas::kInk, 1);
        if (frame_.has_x_labels && i % stride == 0)
          canvas_.text(x, bottom_ + 18, x_.ticks[i].label, Anchor::kMiddle, 0, true);
      }
    }
  }

  void draw_reference_line() {
    if (!chart_.reference_line) return;
    const double y = y_at(chart_.reference_line->value);
    canvas_.dashes(left_, y, frame_.right, y, SvgCanvas::kInk, reference_line_label(chart_));
    if (is_panel() && has_several_reference_lines(*frame_.axes))
      canvas_.text(frame_.right, y - 4, significant_text(chart_.reference_line->value, 3), Anchor::kEnd, 0, true);
  }

  void draw_axes() { canvas_.line(left_, base_y(), frame_.right, base_y(), "ka", SvgCanvas::kInk, 1); }

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
    const auto draw = [&](std::string_view css_class, std::string_view colour, double width) {
      canvas_.line(x, high, x, low, css_class, colour, width);
      canvas_.line(x - cap, high, x + cap, high, css_class, colour, width);
      // No cap where the error bar is clipped, because that is not its end.
      if (*point.y - *point.error >= y_.low) canvas_.line(x - cap, low, x + cap, low, css_class, colour, width);
    };
    draw("kh", "FFFFFF", 3.2);  // an edge, because bars on a dark background are as light as the error bar
    draw("ka", SvgCanvas::kInk, 1.2);
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
      if (shaded) canvas_.shade(left, top_ - kBandHeight, width, frame_.plot_height + kBandHeight, band.label);
      canvas_.line(left, top_ - kBandHeight, left, bottom_, "kg", SvgCanvas::kGrid, 1);
      shaded = !shaded;
      if (!band.label.empty()) canvas_.text(left + width / 2, top_ - 5, band.label, Anchor::kMiddle, 0, true);
    }
  }

  const Chart& chart_;
  Frame frame_;
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

// Rows of small plots, with one legend and one heading of each axis.
SvgDrawing draw_panels(const Chart& chart) {
  constexpr double kPanelHeight = 150, kTitleHeight = 32, kColumnGap = 16;
  const PanelGrid grid = panel_grid(chart);
  const double left = kHeadingWidth + widest_label(value_axis(chart)) + 10;
  const double width =
      (kWidth - kRight - left - kColumnGap * static_cast<double>(grid.columns - 1)) / static_cast<double>(grid.columns);
  SvgCanvas canvas;
  const std::vector<LegendEntry> legend = lay_out_legend(chart, left, kWidth - kRight);
  draw_legend(canvas, chart, legend);
  const double first_top = legend_height(legend) + kTitleHeight;
  std::string plots;
  double end = 0;
  for (std::size_t i = 0; i < chart.panels.size(); ++i) {
    const auto column = static_cast<double>(i % grid.columns), row = static_cast<double>(i / grid.columns);
    Frame frame;
    frame.left = left + column * (width + kColumnGap);
    frame.right = frame.left + width;
    frame.top = first_top + row * (kPanelHeight + kTitleHeight);
    frame.plot_height = kPanelHeight;
    frame.has_y_labels = i % grid.columns == 0;
    frame.has_x_labels = is_lowest_panel(chart, i);
    frame.axes = &chart;
    const Chart panel = panel_chart(chart, i);
    const ChartDrawing drawing(panel, frame);
    plots += drawing.body();
    end = std::max(end, drawing.height());
  }
  const double bottom = first_top + static_cast<double>(grid.rows) * (kPanelHeight + kTitleHeight) - kTitleHeight;
  draw_y_heading(canvas, chart, first_top, bottom);
  draw_x_heading(canvas, chart, left, kWidth - kRight, end - 14);
  return {canvas.body() + plots, end};
}

SvgDrawing drawing_of(const Chart& chart) {
  if (chart.kind == ChartKind::kTimeline) return draw_timeline(chart, kWidth);
  if (chart.kind == ChartKind::kRoofline) return draw_roofline(chart, kWidth);
  const Chart shown = chart.kind == ChartKind::kArea ? area_picture(chart).chart : chart;
  if (!shown.panels.empty()) return draw_panels(shown);
  const ChartDrawing drawing(shown, Frame{});
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
      "stroke: #c3cad1 }\n.kymo-chart .kh { stroke: #16191d }\n"
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
