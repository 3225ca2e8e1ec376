// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "event/texts.hpp"

/// Timelines: bars in lanes over time, and their layout, independent of the output format.
namespace kymo::report {

/// A horizontal lane of a timeline. Lanes of a panel are placed together under its title, those of a group under the
/// group's name.
struct Lane {
  std::string name;
  std::string group;                   ///< empty: none
  std::string panel{};                 ///< in a timeline with panels
  std::string run{};                   ///< in a timeline of several runs, of which one is shown at a time
  std::optional<std::int64_t> rank{};  ///< ranks of a run have a common time axis
};

/// A quantity over time, drawn below the lanes. Each value is held until the next one.
struct CounterLane {
  std::string name;
  std::string unit;
  std::string run{};
  std::optional<std::int64_t> rank{};
  std::vector<std::pair<std::int64_t, double>> values{};  ///< time in ns and value, sorted by time
};

/// One event of a timeline.
struct TimelineBar {
  static constexpr std::int64_t kNoStep = INT64_MIN;
  static constexpr std::uint32_t kNoEvent = UINT32_MAX;

  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;      ///< not before start_ns
  std::uint32_t lane = 0;       ///< index into Timeline::lanes
  std::uint32_t bar_class = 0;  ///< index into Timeline::classes
  event::TextId label = event::kNoText;
  event::TextId detail = event::kNoText;
  event::TextId scope = event::kNoText;
  event::TextId phase = event::kNoText;
  std::int64_t step = kNoStep;
  std::uint32_t event = kNoEvent;        ///< number of the event, for references to it
  std::uint32_t launched_by = kNoEvent;  ///< number of the host call that launched it
  std::uint32_t called_by = kNoEvent;    ///< number of the operator that launched it
};

struct Timeline {
  bool panels = false;  ///< several timelines to compare; the zero of each is at the start of the shared axis
  std::vector<Lane> lanes;
  std::vector<std::string> classes;  ///< sorted by total time, longest first; may contain empty texts
  event::Texts texts;                ///< labels, details, scopes and phases
  std::vector<TimelineBar> bars;
  std::vector<CounterLane> counters{};
  std::vector<std::size_t> colours{};  ///< of the classes: indices into the palette; if empty, in the order of classes
};

/// Non-overlapping bars in order: one row of one lane.
struct TimelineTrack {
  std::uint32_t lane = 0;
  std::uint32_t row = 0;            ///< 0 is the topmost
  std::vector<std::uint32_t> bars;  ///< indices into Timeline::bars, sorted by start
};

/// Positions of the bars of a timeline.
struct TimelineLayout {
  std::vector<TimelineTrack> tracks;  ///< sorted by lane, then row; none is empty
  std::vector<std::uint32_t> rows;    ///< number of rows per lane
  std::int64_t too_deep = 0;          ///< bars omitted because they overlap too many others
};

/// Assigns the bars of each lane to rows: by start, longer bars first, each to the topmost free row, so that nested
/// bars are below the bars that contain them. Bars that would need more than `max_rows` rows are counted and omitted.
/// O(n log n).
TimelineLayout lay_out(const Timeline& timeline, std::uint32_t max_rows);

/// Keeps the `limit` longest bars (the earlier one of equal length) in their order; returns the number of removed bars.
std::int64_t keep_longest(std::vector<TimelineBar>& bars, std::size_t limit);

/// Bars of a track merged for a picture of limited resolution.
struct TimelineRun {
  std::uint32_t track = 0;  ///< index into TimelineLayout::tracks
  std::uint32_t first = 0;  ///< position of its first bar in the track
  std::uint32_t bars = 1;   ///< number of merged bars
  std::uint32_t bar_class = 0;
  double start_ns = 0;  ///< relative to `origin_ns`
  double end_ns = 0;    ///< relative to `origin_ns`
};

/// Bars of at least `cell_ns` individually; narrower ones are merged per cell of the time axis into the class with the
/// most time, and adjacent cells of the same class are merged into one run.
std::vector<TimelineRun> merged_runs(const Timeline& timeline, const TimelineLayout& layout, std::int64_t origin_ns,
                                     double cell_ns);

/// The same with the smallest cell size of at least `cell_ns` that needs no more than `most` runs (or two per track, if
/// that is more).
std::vector<TimelineRun> merged_runs_within(const Timeline& timeline, const TimelineLayout& layout,
                                            std::int64_t origin_ns, double cell_ns, std::size_t most);

/// Index of the class's color in the palette.
std::size_t colour_of_class(const Timeline& timeline, std::size_t bar_class);

/// Start of the time axis: the first event, or zero if that is earlier and there are panels.
std::int64_t origin_of(const Timeline& timeline);

/// `to_ns` - `from_ns` without overflow; exact below 2^53.
double span_ns(std::int64_t from_ns, std::int64_t to_ns);

}  // namespace kymo::report
