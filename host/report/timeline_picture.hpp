// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/document.hpp"

/// Static pictures, the same in every format: the parts of a timeline, and what the picture of any chart omits.
namespace kymo::report {

/// Width of the time axis in pixels for static pictures; narrower events are merged.
inline constexpr double kTimelinePlotPx = 600;

struct TimelinePicture {
  enum class LineKind {
    kLane,
    kGroup,  ///< heading of a group of lanes; without text: a rule before lanes without a group
    kPanel,  ///< title of a panel, across the whole picture
  };
  /// A line of the left margin.
  struct Line {
    std::string text;
    LineKind kind = LineKind::kLane;
    double top = 0;  ///< pixels below the top of the plot
    double height = 0;
  };
  struct Bar {
    double start = 0;  ///< in `unit`, relative to the start of the axis
    double end = 0;    ///< same; at least half a pixel after `start`
    double top = 0;    ///< pixels
    double height = 0;
    std::size_t colour = 0;  ///< index into the palette
    std::string label;       ///< for a single event
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
  std::vector<std::string> notes;  ///< sentences about what the picture merges or omits
};

/// Returns at most about 2,000 bars. `plot_px` is the width of the time axis.
TimelinePicture timeline_picture(const Chart& chart, double plot_px);

/// Sentences about what a static picture of the chart merges or omits; empty if it shows everything.
std::string picture_notes(const Chart& chart);

/// The chart's caption followed by those sentences.
std::string picture_caption(const Chart& chart);

}  // namespace kymo::report
