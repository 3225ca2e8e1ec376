// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/axis.hpp"
#include "report/svg.hpp"
#include "report/svg_canvas.hpp"
#include "report/timeline_picture.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

constexpr double kLegendHeight = 18;
constexpr double kWidestMargin = 210;
constexpr double kBarFont = 10;

// The text shortened to at most this many pixels; empty if too little fits.
std::string fitted(const std::string& raw, double pixels, double font) {
  constexpr std::size_t kShortest = 3;
  const std::string text = printable(raw);
  if (text_width(text, font) <= pixels) return text;
  for (auto length = static_cast<std::size_t>(pixels / font * 3); length >= kShortest; --length) {
    const std::string shorter = shortened(text, length);
    if (text_width(shorter, font) <= pixels) return shorter;
  }
  return "";
}

class TimelineDrawing {
  static constexpr double kRight = 16;

 public:
  TimelineDrawing(const Chart& chart, double width)
      : picture_(timeline_picture(chart, kTimelinePlotPx)), width_(width) {
    for (const auto& line : picture_.lines) {
      if (line.kind != LineKind::kPanel) left_ = std::max(left_, text_width(printable(line.text)) + margin_of(line));
    }
    left_ = std::min(left_, kWidestMargin);
    draw_legend();
    bottom_ = top_ + picture_.height;
    draw_axis();
    draw_lines();
    for (const auto& bar : picture_.bars) draw(bar);
  }

  SvgDrawing drawing() const { return {canvas_.body(), bottom_ + 46}; }

 private:
  using LineKind = TimelinePicture::LineKind;

  static double margin_of(const TimelinePicture::Line& line) { return line.kind == LineKind::kGroup ? 12 : 16; }
  double x_at(double time) const { return left_ + time / picture_.span * (width_ - kRight - left_); }

  void draw_legend() {
    double x = left_;
    double y = 14;
    for (const auto& entry : picture_.legend) {
      const std::string text = shortened(printable(entry.text), kMaxLegendLength);
      const double wide = 18 + text_width(text) + 14;
      if (x + wide > width_ - kRight && x > left_) {
        x = left_;
        y += kLegendHeight;
      }
      canvas_.bar(x, y - 10, 12, 12, entry.colour, "");
      canvas_.text(x + 18, y, text, Anchor::kStart);
      x += wide;
    }
    top_ = y + 14;
  }

  void draw_axis() {
    for (const double tick : linear_ticks(0, picture_.span, 6)) {
      if (tick > picture_.span) continue;
      const double x = x_at(tick);
      canvas_.line(x, top_, x, bottom_, "kg", SvgCanvas::kGrid, 1);
      canvas_.text(x, bottom_ + 17, tick_label(tick), Anchor::kMiddle, 0, true);
    }
    canvas_.line(left_, bottom_, width_ - kRight, bottom_, "ka", SvgCanvas::kInk, 1);
    canvas_.text((left_ + width_ - kRight) / 2, bottom_ + 36, "time (" + picture_.unit + ")", Anchor::kMiddle);
  }

  void draw_lines() {
    for (const auto& line : picture_.lines) {
      const double y = top_ + line.top;
      const double room = line.kind == LineKind::kPanel ? width_ - kRight - 12 : left_ - margin_of(line);
      const std::string text = fitted(line.text, room, kSvgFontSize);
      switch (line.kind) {
        case LineKind::kPanel:
          canvas_.shade(0, y, width_ - kRight, line.height - 4, "");
          canvas_.heading(6, y + 14.5, text);
          break;
        case LineKind::kGroup:
          canvas_.line(0, y + 2, width_ - kRight, y + 2, "kg", SvgCanvas::kGrid, 1);
          canvas_.heading(2, y + 15, text);
          break;
        case LineKind::kLane:
          canvas_.text(8, y + 11, text, Anchor::kStart, 0, true);
          break;
      }
    }
  }

  void draw(const TimelinePicture::Bar& bar) {
    const double x = x_at(bar.start);
    const double wide = std::max(0.5, x_at(bar.end) - x);
    // A small gap separates adjacent bars of the same color.
    const double gap = wide > 4 ? 0.6 : 0;
    canvas_.bar(x, top_ + bar.top, wide - gap, bar.height, bar.colour, bar.tooltip);
    constexpr double kPadding = 3;
    if (wide < 20 || bar.label.empty()) return;
    const std::string label = fitted(bar.label, wide - 2 * kPadding, kBarFont);
    if (!label.empty()) canvas_.text_on_bar(x + kPadding, top_ + bar.top + bar.height - 3.5, label, bar.colour);
  }

  TimelinePicture picture_;
  double width_;
  double left_ = 60;
  double top_ = 0;
  double bottom_ = 0;
  SvgCanvas canvas_;
};

}  // namespace

SvgDrawing draw_timeline(const Chart& chart, double width) { return TimelineDrawing(chart, width).drawing(); }

}  // namespace kymo::report
