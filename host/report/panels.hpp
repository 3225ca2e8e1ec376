// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "report/document.hpp"

/// Small multiples: the panels of a chart in a grid, on common axes.
namespace kymo::report {

struct PanelGrid {
  std::size_t columns = 1;
  std::size_t rows = 1;
};

/// Two or three columns. Requires panels.
PanelGrid panel_grid(const Chart& chart);

/// A panel as a chart without panels, with all series of the chart, which keep their colors. Its caption is its title.
Chart panel_chart(const Chart& chart, std::size_t panel);

/// True if no panel is below this one, so that it has the labels of the x axis.
bool is_lowest_panel(const Chart& chart, std::size_t panel);

/// True if the panels have different reference lines, whose values then do not belong in the common legend.
bool has_several_reference_lines(const Chart& chart);

}  // namespace kymo::report
