// SPDX-License-Identifier: Apache-2.0
#include "report/roofline_drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "report/axis.hpp"
#include "report/number.hpp"
#include "report/palette.hpp"
#include "report/roofline_labels.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

// Their quotient could be too large for a number.
double decades_between(double low, double high) { return std::log10(high) - std::log10(low); }

/// "12.3 GFLOP/s".
std::string rate_text(double rate, const std::string& unit) {
  return prefixed(rate, {.kind = NumberFormat::Kind::kSignificant, .digits = 3}, unit);
}

std::string rate_tick(double rate) { return prefixed(rate, {.kind = NumberFormat::Kind::kGeneral, .digits = 10}, ""); }

// At most nine labels.
std::vector<double> ticks_within(double low, double high) {
  std::vector<double> ticks;
  const double decades = decades_between(low, high);
  if (decades < 3) {
    ticks = log_ticks(low, high);
  } else {
    const int stride = std::max(1, static_cast<int>(std::ceil(decades / 9)));
    for (int i = static_cast<int>(std::ceil(std::log10(low))); i <= std::log10(high); i += stride)
      ticks.push_back(std::pow(10.0, i));
  }
  std::erase_if(ticks, [&](double tick) { return tick < low || tick > high; });
  return ticks;
}

// The largest 1, 2 or 5 times a power of ten up to `limit`.
double round_time(double limit) {
  const double unit = std::pow(10.0, std::floor(std::log10(limit)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * unit <= limit) return factor * unit;
  }
  return unit;
}

bool has_marks_beside(const Roofline& roofline) {
  return std::any_of(roofline.marks.begin(), roofline.marks.end(),
                     [&](const RooflineMark& mark) { return mark.flops == 0 && roofline.contains(mark); });
}

class RooflineDrawing {
  using Stroke = RooflinePicture::Stroke;
  static constexpr double kPlotHeight = 360;
  static constexpr double kRight = 20;
  static constexpr double kStripWidth = 56;
  static constexpr double kLargestRadius = 24;
  static constexpr double kSmallestRadius = 2;
  static constexpr double kLegendRow = 20;
  static constexpr std::size_t kLabelledMarks = 5;
  static constexpr std::size_t kGray = 6;

 public:
  RooflineDrawing(const Chart& chart, double width) : chart_(chart), data_(chart.roofline), right_(width - kRight) {}

  RooflinePicture draw() {
    lay_out();
    draw_axes();
    draw_marks();
    draw_roofs();
    label_marks();
    picture_.circles.insert(picture_.circles.end(), obstacles_.marks.begin(), obstacles_.marks.end());
    return std::move(picture_);
  }

 private:
  void lay_out() {
    y_ticks_ = ticks_within(data_.y_low, data_.y_high);
    double widest = 0;
    for (const double tick : y_ticks_) widest = std::max(widest, text_width(rate_tick(tick)));
    left_ = 30 + widest + 10;
    const double legend = draw_legend();
    picture_.top = legend + 8;
    picture_.bottom = picture_.top + kPlotHeight;
    picture_.height = picture_.bottom + 52;
    picture_.strip_left = picture_.strip_right = left_;
    const bool strip = has_marks_beside(data_);
    if (strip) picture_.strip_right = left_ += kStripWidth;
  }

  // The classes of the marks, and a mark with its time. Returns the lower end.
  double draw_legend() {
    std::set<std::size_t> used;
    for (const RooflineMark& mark : data_.marks) used.insert(mark.mark_class);
    double x = left_;
    double y = kLegendRow / 2 + 2;
    const auto place = [&](double radius, const std::string& text) {
      const double width = 2 * radius + 6 + text_width(text) + 16;
      if (x + width > right_ && x > left_) {
        x = left_;
        y += kLegendRow;
      }
      add_text(x + 2 * radius + 6, y + 4, text, Anchor::kStart);
      x += width;
      return x - width + radius;
    };
    for (const std::size_t each : used) {
      const double at = place(6, shortened(printable(data_.classes[each]), kMaxLabelLength));
      picture_.circles.push_back({at, y, 6, data_.colour_of_class(each), true, ""});
    }
    if (!data_.marks.empty()) {
      constexpr double kSampleRadius = 9;
      const double ms = round_time(data_.longest_ms * std::pow(kSampleRadius / kLargestRadius, 2));
      const double at = place(radius_of(ms), "area of " + significant_text(ms, 1) + " ms");
      picture_.circles.push_back({at, y, radius_of(ms), kGray, false, ""});
    }
    return y + kLegendRow / 2;
  }

  double x_at(double intensity) const {
    return left_ +
           decades_between(data_.x_low, intensity) / decades_between(data_.x_low, data_.x_high) * (right_ - left_);
  }
  double y_at(double rate) const {
    const double share = decades_between(data_.y_low, rate) / decades_between(data_.y_low, data_.y_high);
    return picture_.bottom - share * (picture_.bottom - picture_.top);
  }
  double radius_of(double ms) const {
    return std::max(kSmallestRadius, kLargestRadius * std::sqrt(ms / data_.longest_ms));
  }

  void add_text(double x, double y, const std::string& text, Anchor anchor, double rotation = 0, bool muted = false) {
    picture_.texts.push_back({x, y, text, anchor, rotation, muted});
  }
  void add_line(double x1, double y1, double x2, double y2, Stroke stroke) {
    picture_.lines.push_back({x1, y1, x2, y2, stroke});
  }

  void draw_axes() {
    for (const double tick : y_ticks_) {
      add_line(picture_.strip_left, y_at(tick), right_, y_at(tick), Stroke::kGrid);
      add_text(picture_.strip_left - 8, y_at(tick) + 4, rate_tick(tick), Anchor::kEnd, 0, true);
    }
    for (const double tick : ticks_within(data_.x_low, data_.x_high)) {
      add_line(x_at(tick), picture_.top, x_at(tick), picture_.bottom, Stroke::kGrid);
      add_text(x_at(tick), picture_.bottom + 18, tick_label(tick), Anchor::kMiddle, 0, true);
    }
    if (picture_.strip_right > picture_.strip_left)
      add_text((picture_.strip_left + picture_.strip_right) / 2, picture_.bottom + 18, "0", Anchor::kMiddle, 0, true);
    add_line(picture_.strip_left, picture_.bottom, right_, picture_.bottom, Stroke::kAxis);
    add_text((left_ + right_) / 2, picture_.bottom + 40, axis_heading(chart_.x), Anchor::kMiddle);
    add_text(16, (picture_.top + picture_.bottom) / 2, axis_heading(chart_.y), Anchor::kMiddle, -90);
  }

  double highest(bool memory) const {
    double rate = 0;
    for (const Roof& roof : data_.roofs) rate = std::max(rate, roof.memory == memory ? roof.rate : 0);
    return rate;
  }

  void draw_roofs() {
    for (const Roof& roof : data_.roofs) {
      if (roof.memory) draw_slope(roof);
    }
    for (const Roof& roof : data_.roofs) {
      if (!roof.memory) draw_ceiling(roof);
    }
    label_ceilings();
  }

  std::string text_of_roof(const Roof& roof) const {
    return shortened(printable(roof.label), kMaxLabelLength) + " " +
           rate_text(roof.rate, roof.memory ? "B/s" : "FLOP/s");
  }

  // Up to the highest ceiling.
  void draw_slope(const Roof& roof) {
    const double ceiling = highest(false);
    const double top = ceiling > 0 ? std::min(ceiling, data_.y_high) : data_.y_high;
    const double from = std::max(data_.x_low, data_.y_low / roof.rate);
    const double to = std::min(data_.x_high, top / roof.rate);
    if (from >= to) return;
    const double x1 = x_at(from), y1 = y_at(from * roof.rate), x2 = x_at(to), y2 = y_at(to * roof.rate);
    add_line(x1, y1, x2, y2, Stroke::kRoof);
    obstacles_.slopes.push_back({x1, y1, x2, y2});
    if (from == data_.x_low && picture_.strip_right > picture_.strip_left)
      add_line(picture_.strip_left, y1, picture_.strip_right, y1, Stroke::kRoof);
    label_slope(text_of_roof(roof), obstacles_.slopes.back());
  }

  // Along the slope, above it, where it covers the fewest marks.
  void label_slope(const std::string& text, const LabelBox& slope) {
    constexpr double kStep = 8;
    const double angle = std::atan2(slope.bottom - slope.top, slope.right - slope.left);
    const double length = std::hypot(slope.right - slope.left, slope.bottom - slope.top);
    const double width = text_width(text);
    std::vector<LabelBox> best;
    double least = INFINITY;
    for (double start = 4; start == 4 || start + width + 8 < length; start += 2 * kStep) {
      std::vector<LabelBox> boxes;
      double cost = 0;
      for (double along = start; along < start + width; along += kStep) {
        const double x = slope.left + along * std::cos(angle) + 6 * std::sin(angle);
        const double y = slope.top + along * std::sin(angle) - 6 * std::cos(angle);
        boxes.push_back({x, y - 14, x + kStep, y + 2});
        cost += obstacles_.marks_covered(boxes.back());
      }
      if (cost < least) {
        least = cost;
        best = boxes;
      }
    }
    add_text(best.front().left, best.front().bottom - 2, text, Anchor::kStart, angle * 180 / M_PI);
    obstacles_.labels.insert(obstacles_.labels.end(), best.begin(), best.end());
  }

  void draw_ceiling(const Roof& roof) {
    const double memory = highest(true);
    const double from = memory > 0 ? std::clamp(roof.rate / memory, data_.x_low, data_.x_high) : data_.x_low;
    add_line(x_at(from), y_at(roof.rate), right_, y_at(roof.rate), Stroke::kRoof);
    obstacles_.ceilings.push_back({x_at(from), y_at(roof.rate), right_, y_at(roof.rate)});
  }

  // Ceilings that look like one line share a label.
  void label_ceilings() {
    constexpr double kSameLine = 5;
    std::string text;
    double top = 0, bottom = 0;
    for (const Roof& roof : data_.roofs) {
      if (roof.memory) continue;
      const double line = y_at(roof.rate);
      if (!text.empty() && line - bottom > kSameLine) {
        label_ceiling(text, top, bottom);
        text.clear();
      }
      if (text.empty()) top = line;
      bottom = line;
      text += (text.empty() ? "" : ", ") + text_of_roof(roof);
    }
    if (!text.empty()) label_ceiling(text, top, bottom);
  }

  // At the right end, above or below the lines, where it crosses no other ceiling; otherwise beside the labels in its
  // way.
  void label_ceiling(const std::string& text, double top, double bottom) {
    constexpr double kLetterHeight = 9;
    const double width = text_width(text);
    for (const bool any_line : {false, true}) {
      for (double end = right_ - 4; end - width > left_; end -= 24) {
        for (const double baseline : {top - 4, bottom + kLetterHeight + 4}) {
          const LabelBox box{end - width, baseline - kLetterHeight - 2, end, baseline + 3};
          const bool crossed = std::ranges::any_of(obstacles_.ceilings, [&](const LabelBox& each) {
            return each.top > baseline - kLetterHeight && each.top < baseline + 1;
          });
          if ((crossed && !any_line) || !obstacles_.is_free(box)) continue;
          add_text(end, baseline, text, Anchor::kEnd);
          obstacles_.labels.push_back(box);
          return;
        }
        if (!any_line) break;
      }
    }
  }

  void draw_marks() {
    for (const RooflineMark& mark : data_.marks) {
      if (!data_.contains(mark)) continue;
      drawn_.push_back(&mark);
      const bool counted = mark.flops > 0;
      const double x = counted ? x_at(mark.intensity()) : (picture_.strip_left + picture_.strip_right) / 2;
      const double y = y_at(data_.height_of(mark));
      obstacles_.marks.push_back(
          {x, y, radius_of(mark.ms), data_.colour_of_class(mark.mark_class), counted, tooltip(mark)});
    }
  }

  static std::string tooltip(const RooflineMark& mark) {
    std::string text = mark.label + (mark.detail.empty() ? "" : ", " + mark.detail) + ": " +
                       significant_text(mark.ms, 3) + " ms, " + rate_text(mark.flop_rate(), "FLOP/s") + ", " +
                       rate_text(mark.byte_rate(), "B/s");
    return mark.flops > 0 ? text + ", " + significant_text(mark.intensity(), 3) + " FLOP/B" : text;
  }

  void label_marks() {
    std::vector<std::string> texts;
    std::vector<double> widths;
    for (std::size_t i = 0; i < std::min(kLabelledMarks, drawn_.size()); ++i) {
      texts.push_back(shortened(printable(drawn_[i]->label), kMaxLabelLength));
      widths.push_back(text_width(texts.back()));
    }
    const LabelBox plot{picture_.strip_left, picture_.top, right_, picture_.bottom};
    const std::vector<std::optional<LabelPlace>> places = places_of_labels(obstacles_, plot, widths);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!places[i]) continue;
      add_text(places[i]->box.left, places[i]->box.bottom - 4, texts[i], Anchor::kStart);
      if (places[i]->leader) picture_.lines.push_back(*places[i]->leader);
    }
  }

  const Chart& chart_;
  const Roofline& data_;
  RooflinePicture picture_;
  double left_ = 0;
  double right_ = 0;
  std::vector<double> y_ticks_;
  RooflineObstacles obstacles_;
  std::vector<const RooflineMark*> drawn_;
};

}  // namespace

std::string roofline_notes(const Roofline& roofline) {
  std::vector<std::string> notes;
  if (has_marks_beside(roofline)) {
    std::string note = "The outlined marks at the left have no floating-point operations";
    const auto is_memory = [](const Roof& roof) { return roof.memory; };
    if (std::any_of(roofline.roofs.begin(), roofline.roofs.end(), is_memory))
      note += "; they are as far from the roof of the memory as their bytes per second";
    notes.push_back(note + ".");
  }
  std::size_t count = 0;
  double ms = 0;
  for (const RooflineMark& mark : roofline.marks) {
    if (roofline.contains(mark)) continue;
    ++count;
    ms += mark.ms;
  }
  if (count > 0) {
    notes.push_back("Outside of the axes: " + std::to_string(count) + (count == 1 ? " mark" : " marks") + " with " +
                    significant_text(ms, 2) + " ms.");
  }
  return join(notes, " ");
}

RooflinePicture roofline_picture(const Chart& chart, double width) { return RooflineDrawing(chart, width).draw(); }

}  // namespace kymo::report
