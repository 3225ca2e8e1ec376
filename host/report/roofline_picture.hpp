// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/document.hpp"
#include "report/svg_canvas.hpp"

namespace kymo::report {

/// A roofline chart as shapes in pixels, the same in every format; y points down.
struct RooflinePicture {
  enum class Stroke { kGrid, kAxis, kRoof, kLeader };
  struct Line {
    double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
    Stroke stroke = Stroke::kGrid;
  };
  struct Circle {
    double x = 0, y = 0, radius = 0;
    std::size_t colour = 0;  ///< index into the palette
    bool filled = true;      ///< otherwise outlined
    std::string tooltip;
  };
  struct Text {
    double x = 0, y = 0;  ///< of the baseline
    std::string text;     ///< printable and shortened
    Anchor anchor = Anchor::kStart;
    double rotation = 0;  ///< clockwise, in degrees
    bool muted = false;
  };
  double height = 0;
  double top = 0, bottom = 0;              ///< of the plot
  double strip_left = 0, strip_right = 0;  ///< beside the plot, for marks without operations; equal without any
  std::vector<Line> lines;                 ///< behind the circles, except leaders
  std::vector<Circle> circles;             ///< the largest first
  std::vector<Text> texts;
};

}  // namespace kymo::report
