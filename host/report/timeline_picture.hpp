// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/document.hpp"

/// A timeline as a picture that cannot be zoomed shows it, the same in every format.
namespace kymo::report {

/// Pixels of the time axis that pictures are made for: what is narrower is merged.
inline constexpr double kTimelinePlotPx = 600;

struct TimelinePicture {
  enum class LineKind {
    kLane,
    kGroup,  ///< heading of a group of lanes; without text: a rule, where lanes without a group follow
    kPanel,  ///< title of a panel, across the whole picture
  };
  /// A line of the left margin.
  struct Line {
    std::string text;
    LineKind kind = LineKind::kLane;
    double top = 0;  ///< pixels below the upper edge of the plot
    double height = 0;
  };
  struct Bar {
    double start = 0;  ///< in `unit`, after the axis begins
    double end = 0;    ///< likewise; at least half a pixel later
    double top = 0;    ///< pixels
    double height = 0;
    std::size_t colour = 0;  ///< of the palette
    std::string label;       ///< of a single event
    std::string tooltip;
  };
  struct LegendEntry {
    std::string text;
    std::size_t colour = 0;
  };

  std::string unit;
  double span = 0;    ///< of the time axis, in `unit`
  double height = 0;  ///< of the plot, in pixels
  std::vector<Line> lines;
  std::vector<Bar> bars;
  std::vector<LegendEntry> legend;
  std::vector<std::string> notes;  ///< sentences on what the picture merges or leaves out
};

/// At most about 2,000 bars. `plot_px` is the width of the time axis.
TimelinePicture timeline_picture(const Chart& chart, double plot_px);

}  // namespace kymo::report
