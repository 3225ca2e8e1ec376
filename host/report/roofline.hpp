// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/palette.hpp"

/// The content of a roofline chart (Williams, Waterman and Patterson, 2009), independent of the output format.
namespace kymo::report {

/// What was executed: a mark at its operations per byte and its operations per second.
struct RooflineMark {
  std::string label;
  std::string detail;          ///< shown on demand; may be empty
  std::size_t mark_class = 0;  ///< decides the color
  double flops = 0;            ///< floating-point operations; 0 for copies, whose marks are beside the plot
  double bytes = 0;            ///< positive
  double ms = 0;               ///< positive; the area of the mark

  double intensity() const { return flops / bytes; }
  double flop_rate() const { return flops / ms * 1e3; }
  double byte_rate() const { return bytes / ms * 1e3; }
};

/// What limits the marks: a rate of memory in bytes per second, or of arithmetic in operations per second.
struct Roof {
  std::string label;
  bool memory = false;
  double rate = 0;  ///< positive
};

struct Roofline {
  std::vector<std::string> classes;    ///< the same in all charts that are compared
  std::vector<std::size_t> colours{};  ///< of the classes, as in a timeline
  std::vector<RooflineMark> marks;     ///< those with the longest time first
  std::vector<Roof> roofs;             ///< the highest first
  double longest_ms = 0;               ///< time of the largest mark of all charts that are compared
  /// Ends of the axes, the same in all charts that are compared: operations per byte and operations per second.
  double x_low = 0, x_high = 0, y_low = 0, y_high = 0;

  /// Index of the class's color in the palette.
  std::size_t colour_of_class(std::size_t mark_class) const {
    return mark_class < colours.size() ? colours[mark_class] : class_colour(mark_class);
  }
  /// Beside the plot, a mark without operations is as far from the roof of the memory as its bytes per second.
  double height_of(const RooflineMark& mark) const {
    return mark.flops > 0 ? mark.flop_rate() : x_low * mark.byte_rate();
  }
  bool contains(const RooflineMark& mark) const {
    const double height = height_of(mark);
    const bool is_beside = mark.flops == 0;
    return height >= y_low && height <= y_high &&
           (is_beside || (mark.intensity() >= x_low && mark.intensity() <= x_high));
  }
};

}  // namespace kymo::report
