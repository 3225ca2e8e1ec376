// SPDX-License-Identifier: Apache-2.0
#include "report/panels.hpp"

#include <algorithm>

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

bool has_several_reference_lines(const Chart& chart) {
  return std::ranges::any_of(chart.panels, [&chart](const Panel& panel) {
    return chart.reference_line &&
           (!panel.reference_line || panel.reference_line->value != chart.reference_line->value);
  });
}

}  // namespace kymo::report
