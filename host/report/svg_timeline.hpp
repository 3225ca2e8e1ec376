// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"

namespace kymo::report {

/// Elements of an SVG and the height they take.
struct SvgDrawing {
  std::string body;
  double height = 0;
};

SvgDrawing draw_timeline(const Chart& chart, double width);

}  // namespace kymo::report
