// SPDX-License-Identifier: Apache-2.0
#include "report/panels.hpp"

#include <algorithm>

#include "report/svg_canvas.hpp"

namespace kymo::report {

PanelGrid panel_grid(const Chart& chart) {
  const std::size_t count = chart.panels.size();
  const std::size_t columns = count <= 2 || count == 4 ? 2 : 3;
  return {columns, (count + columns - 1) / columns};
}

Chart panel_chart(const Chart& chart, std::size_t panel) {
  Chart one = chart;
  one.panels.clear();
  one.caption = chart.panels[panel].title;
  one.reference_line = chart.panels[panel].reference_line;
  for (std::size_t s = 0; s < one.series.size(); ++s) one.series[s].points = chart.panels[panel].points[s];
  return one;
}

bool is_lowest_panel(const Chart& chart, std::size_t panel) {
  return panel + panel_grid(chart).columns >= chart.panels.size();
}

std::size_t label_stride(const ScaledAxis& axis, double width, double font_size) {
  const auto touch = [&](std::size_t stride) {
    double end = -width;
    for (std::size_t i = 0; i < axis.ticks.size(); i += stride) {
      const double at = axis.position(axis.ticks[i].value) * width;
      const double half = text_width(axis.ticks[i].label, font_size) / 2;
      if (at - half < end) return true;
      end = at + half + font_size / 3;
    }
    return false;
  };
  std::size_t stride = 1;
  while (touch(stride)) ++stride;  // a single label touches none
  return stride;
}

bool has_several_reference_lines(const Chart& chart) {
  return std::ranges::any_of(chart.panels, [&chart](const Panel& panel) {
    return chart.reference_line &&
           (!panel.reference_line || panel.reference_line->value != chart.reference_line->value);
  });
}

}  // namespace kymo::report
