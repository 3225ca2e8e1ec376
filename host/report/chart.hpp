// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "event/texts.hpp"
#include "report/roofline.hpp"
#include "report/timeline.hpp"

/// The charts of a report.
namespace kymo::report {

enum class ChartKind {
  kLine,
  kBar,
  kArea,      ///< stacked curves; each value is held until the next point
  kTimeline,  ///< bars in lanes over time
  kRoofline,  ///< rates over intensity below the peaks of a device
};
enum class Scale {
  kLinear,
  kLog,
  kAuto,  ///< logarithmic if the values span more than two decades
};

struct Axis {
  std::string title;
  std::string unit;
  Scale scale = Scale::kLinear;
  bool nanoseconds = false;  ///< values are times in ns, shown relative to the first one in a suitable unit
  bool bytes = false;        ///< values are bytes, shown in a suitable binary unit
};

struct Point {
  double x = 0;             ///< index into Chart::categories if there are any
  std::optional<double> y;  ///< if missing, `state` gives the reason
  std::optional<double> error;
  std::string state;
};

struct Series {
  std::string name;
  std::vector<Point> points;
  std::optional<std::size_t> colour{};  ///< index into the palette; by default the index among the chart's series
};

/// A bound to compare the values of a line chart with: a dashed line across the plot.
struct ReferenceLine {
  std::string title;
  double value = 0;  ///< on the y axis; finite
};

/// A plot of a chart with several.
struct Panel {
  std::string title;
  std::vector<std::vector<Point>> points;  ///< for each series of the chart, maybe none
  std::optional<ReferenceLine> reference_line;
};

/// A labeled interval of the x axis, drawn behind the areas.
struct Band {
  std::string label;
  double start = 0;
  double end = 0;
};

/// A memory block of an area chart of memory.
struct MemoryBlock {
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> end_ns;  ///< absent: alive at the end
  std::int64_t bytes = 0;
  event::TextId label = event::kNoText;
  event::TextId category = event::kNoText;
  event::TextId detail = event::kNoText;
  std::optional<std::uint64_t> address{};
  std::int64_t pending_ns = 0;  ///< time after the end in which a stream still used the memory
};

/// Memory that an allocator reserved, and divides into blocks.
struct MemorySegment {
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> end_ns;  ///< absent: reserved at the end
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t stream = 0;  ///< CUDA stream it serves
};

struct MemoryBlocks {
  event::Texts texts;  ///< labels, categories and details
  std::vector<MemoryBlock> blocks;
  std::vector<MemorySegment> segments{};
  std::string without_segments{};  ///< why there are none; empty if the chart does not ask for them
};

/// The records that a chart shows a part of; `kymo export` writes all of them for other tools.
struct RecordedPass {
  std::int64_t run_id = 0;
  std::string pass;
  std::string run{};  ///< as Lane::run
};

/// A file that the HTML report offers to save.
struct Attachment {
  RecordedPass source;
  std::string button;   ///< "Save Perfetto trace"
  std::string file;     ///< suggested name
  std::string content;  ///< empty: too large to embed; `command` writes it
  std::string command;
};

/// A chart, independent of the output format. Bar charts always have categories; areas are stacked in the order of the
/// series.
struct Chart {
  std::string name;     ///< used as file name, as for tables
  std::string query{};  ///< file; the same for charts that a query was split into
  std::string caption;
  ChartKind kind = ChartKind::kLine;
  Axis x;
  Axis y;
  bool stacked = false;  ///< for a bar chart: the bars of a category are stacked; no value is negative and none has an
                         ///< error
  std::vector<std::string> categories;
  std::vector<Series> series;
  std::optional<ReferenceLine> reference_line;  ///< for a line chart; with panels, the highest of theirs
  std::vector<Panel> panels{};            ///< for a line or bar chart: small plots on common axes, at least two; the
                                          ///< points of the series are then those of all panels
  std::vector<Band> bands;                ///< for an area chart
  MemoryBlocks memory;                    ///< for an area chart
  Timeline timeline;                      ///< for a timeline, which has neither categories nor series; for an
                                          ///< area chart, the events on its time axis, if there are any
  std::vector<RecordedPass> passes{};     ///< of a timeline or area chart
  std::vector<Attachment> attachments{};  ///< files of `passes`
  Roofline roofline;                      ///< for a roofline, which has neither as well
};

/// Index into the palette.
inline std::size_t colour_of(const Chart& chart, std::size_t series) {
  return chart.series[series].colour.value_or(series);
}

}  // namespace kymo::report
