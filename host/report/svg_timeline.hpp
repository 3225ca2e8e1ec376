// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"

namespace kymo::report {

/// SVG elements and their total height.
struct SvgDrawing {
  std::string body;
  double height = 0;
};

SvgDrawing draw_timeline(const Chart& chart, double width);

}  // namespace kymo::report
