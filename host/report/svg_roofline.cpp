// SPDX-License-Identifier: Apache-2.0
#include "report/roofline_drawing.hpp"
#include "report/svg.hpp"
#include "report/svg_canvas.hpp"

namespace kymo::report {

SvgDrawing draw_roofline(const Chart& chart, double width) {
  using Stroke = RooflinePicture::Stroke;
  const RooflinePicture picture = roofline_picture(chart, width);
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

}  // namespace kymo::report
