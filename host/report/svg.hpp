// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"
#include "report/renderer.hpp"

namespace kymo::report {

/// The chart as one <svg> element for an HTML page that includes chart_css().
std::string inline_svg(const Chart& chart);

/// The chart as a standalone SVG file that follows the reader's light or dark color scheme.
std::string standalone_svg(const Chart& chart);

/// The standalone file, with the path used in every report.
OutputFile picture_file(const Chart& chart);

/// CSS rules for dark mode. Light colors are attributes, so that simple viewers do not need CSS.
std::string chart_css();

/// SVG elements and their total height.
struct SvgDrawing {
  std::string body;
  double height = 0;
};

SvgDrawing draw_timeline(const Chart& chart, double width);
SvgDrawing draw_roofline(const Chart& chart, double width);

}  // namespace kymo::report
