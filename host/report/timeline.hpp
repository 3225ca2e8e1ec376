// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "event/texts.hpp"

/// What happened when: bars in lanes over time, and how they are laid out. Free of any output format.
namespace kymo::report {

/// A horizontal strip of a timeline. Lanes of one panel stand together under its title, those of one group of it under
/// the group's name.
struct Lane {
  std::string name;
  std::string group;    ///< empty: none
  std::string panel{};  ///< of a timeline with panels
};

/// One event of a timeline.
struct TimelineBar {
  static constexpr std::int64_t kNoStep = INT64_MIN;

  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;      ///< not before start_ns
  std::uint32_t lane = 0;       ///< index into Timeline::lanes
  std::uint32_t bar_class = 0;  ///< index into Timeline::classes
  event::TextId label = event::kNoText;
  event::TextId detail = event::kNoText;
  std::int64_t step = kNoStep;
};

struct Timeline {
  bool panels = false;  ///< several timelines to be compared: each has its zero where the shared axis begins
  std::vector<Lane> lanes;
  std::vector<std::string> classes;  ///< the one with the longest time in all first; may be empty texts
  event::Texts texts;                ///< labels and details
  std::vector<TimelineBar> bars;
};

/// Bars that follow each other without overlapping: one row of one lane.
struct TimelineTrack {
  std::uint32_t lane = 0;
  std::uint32_t row = 0;            ///< 0 is the topmost
  std::vector<std::uint32_t> bars;  ///< indexes into Timeline::bars, by start
};

/// Where the bars of a timeline stand.
struct TimelineLayout {
  std::vector<TimelineTrack> tracks;  ///< by lane, then row; none is empty
  std::vector<std::uint32_t> rows;    ///< of each lane
  std::int64_t too_deep = 0;          ///< bars left out because they overlap too many others
};

/// Stacks the bars of each lane: by start, the longer one first, each into the topmost row that is free, so that what
/// is nested stands below what it lies in. Bars that would need more than `most_rows` rows are counted and left out.
/// O(n log n).
TimelineLayout lay_out(const Timeline& timeline, std::uint32_t most_rows);

/// Leaves the `limit` longest bars (the earlier one where two are as long) in their order; returns how many bars went.
std::int64_t keep_longest(std::vector<TimelineBar>& bars, std::size_t limit);

/// A stretch of a track as a picture of limited resolution shows it.
struct TimelineRun {
  std::uint32_t track = 0;  ///< index into TimelineLayout::tracks
  std::uint32_t first = 0;  ///< position of its first bar in the track
  std::uint32_t bars = 1;   ///< how many bars it stands for
  std::uint32_t bar_class = 0;
  double start_ns = 0;  ///< after `origin_ns`
  double end_ns = 0;    ///< likewise
};

/// Bars of at least `cell_ns` each by itself; narrower ones together per cell of the time axis, as the class that takes
/// the most time there, and neighbouring cells of one class as one run.
std::vector<TimelineRun> merged_runs(const Timeline& timeline, const TimelineLayout& layout, std::int64_t origin_ns,
                                     double cell_ns);

/// The same with the smallest cell from `cell_ns` on that needs no more than `most` runs (or two per track, if that is
/// more).
std::vector<TimelineRun> merged_runs_within(const Timeline& timeline, const TimelineLayout& layout,
                                            std::int64_t origin_ns, double cell_ns, std::size_t most);

/// Where the time axis begins: the first event, or zero if that is earlier and there are panels.
std::int64_t origin_of(const Timeline& timeline);

/// `to_ns` - `from_ns` without overflow; exact below 2^53.
double span_ns(std::int64_t from_ns, std::int64_t to_ns);

}  // namespace kymo::report
