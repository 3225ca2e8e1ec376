// SPDX-License-Identifier: Apache-2.0
#include "report/svg_legend.hpp"

#include <cstddef>

#include "report/axis.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

constexpr double kLineHeight = 18;

}  // namespace

std::vector<LegendEntry> lay_out_legend(const Chart& chart, double left, double right) {
  std::vector<std::string> texts;
  if (chart.series.size() > 1) {
    for (const Series& series : chart.series) texts.push_back(shortened(printable(series.name), kMaxLegendLength));
  }
  if (chart.reference_line) texts.push_back(reference_line_label(chart));
  std::vector<LegendEntry> legend;
  double x = left;
  int row = 0;
  for (const std::string& text : texts) {
    LegendEntry entry{text, x, row};
    const double width = 18 + text_width(entry.text) + 18;
    if (x + width > right && x > left) {
      x = left;
      entry.x = x;
      entry.row = ++row;
    }
    x += width;
    legend.push_back(entry);
  }
  return legend;
}

double legend_height(const std::vector<LegendEntry>& legend) {
  return legend.empty() ? 14 : 12 + kLineHeight * (legend.back().row + 1);
}

void draw_legend(SvgCanvas& canvas, const Chart& chart, const std::vector<LegendEntry>& legend) {
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const LegendEntry& entry = legend[i];
    const double y = 14 + kLineHeight * entry.row;
    if (chart.reference_line && i + 1 == legend.size()) {
      canvas.dashes(entry.x - 1, y - 4, entry.x + 13, y - 4, SvgCanvas::kInk, "");
    } else if (chart.kind == ChartKind::kLine) {
      canvas.polyline({{entry.x - 1, y - 4}, {entry.x + 13, y - 4}}, colour_of(chart, i));
      canvas.marker(entry.x + 6, y - 4, colour_of(chart, i), "");
    } else {
      canvas.bar(entry.x, y - 10, 12, 12, colour_of(chart, i), "");
    }
    canvas.text(entry.x + 18, y, entry.text, Anchor::kStart);
  }
}

}  // namespace kymo::report
