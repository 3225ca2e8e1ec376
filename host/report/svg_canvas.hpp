// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kymo::report {

enum class Anchor { kStart, kMiddle, kEnd };

/// Maximum number of characters of a category label and of a legend entry.
constexpr std::size_t kMaxLabelLength = 34;
constexpr std::size_t kMaxLegendLength = 48;

/// Size in pixels of the text of an SVG figure.
constexpr double kSvgFontSize = 12;

/// Estimated width in pixels of a text in a common sans-serif font; slightly too large, so that labels do not overlap.
double text_width(std::string_view text, double font_size = kSvgFontSize);

/// True if white text is more readable than black on this color (RRGGBB).
bool is_dark(std::string_view rgb);

/// Collects SVG elements in chart colors. All texts are escaped here.
class SvgCanvas {
 public:
  /// Colors of axes and text, and of grid lines.
  static constexpr std::string_view kInk = "24292F";
  static constexpr std::string_view kGrid = "E3E6EA";

  void line(double x1, double y1, double x2, double y2, std::string_view css_class, std::string_view colour,
            double width);
  /// A dashed line in the axis color.
  void dashes(double x1, double y1, double x2, double y2, std::string_view colour, std::string_view tooltip);
  void text(double x, double y, std::string_view text, Anchor anchor, double rotation = 0, bool muted = false);
  void bar(double x, double y, double width, double height, std::size_t series, std::string_view tooltip);
  void heading(double x, double y, std::string_view text);
  /// Small text on a bar of this series.
  void text_on_bar(double x, double y, std::string_view text, std::size_t series);
  /// A light background behind elements drawn later.
  void shade(double x, double y, double width, double height, std::string_view tooltip);
  void polygon(const std::vector<std::pair<double, double>>& corners, std::size_t series, std::string_view tooltip);
  void polyline(const std::vector<std::pair<double, double>>& points, std::size_t series);
  /// A transparent disk with an outline, or the outline only.
  void circle(double x, double y, double radius, std::size_t series, bool filled, std::string_view tooltip);
  void marker(double x, double y, std::size_t series, std::string_view tooltip);

  const std::string& body() const { return body_; }

 private:
  std::string body_;
};

}  // namespace kymo::report
