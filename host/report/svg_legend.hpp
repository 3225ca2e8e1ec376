// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/document.hpp"
#include "report/svg_canvas.hpp"

/// The legend above a chart with axes: series, and the reference line at the end.
namespace kymo::report {

struct LegendEntry {
  std::string text;
  double x = 0;
  int row = 0;
};

/// Rows of entries between `left` and `right`, in pixels.
std::vector<LegendEntry> lay_out_legend(const Chart& chart, double left, double right);
double legend_height(const std::vector<LegendEntry>& legend);
void draw_legend(SvgCanvas& canvas, const Chart& chart, const std::vector<LegendEntry>& legend);

}  // namespace kymo::report
