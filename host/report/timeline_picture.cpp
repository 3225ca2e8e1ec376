// SPDX-License-Identifier: Apache-2.0
#include "report/timeline_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "report/area.hpp"
#include "report/number.hpp"
#include "report/palette.hpp"
#include "report/roofline_drawing.hpp"

namespace kymo::report {
namespace {

constexpr std::size_t kMaxBars = 2000;
constexpr std::size_t kMaxLanes = 32;
constexpr std::uint32_t kMaxRows = 8;
constexpr double kRowHeight = 14;
constexpr double kRowGap = 1;
constexpr double kLaneGap = 6;
constexpr double kHeadingHeight = 20;
constexpr double kRuleHeight = 8;  // height of the line below the last group
constexpr double kPanelHeight = 24;
constexpr double kPanelGap = 12;

std::string counted(std::size_t count, const char* one, const char* several) {
  return grouped(std::to_string(count)) + " " + (count == 1 ? one : several);
}

class PictureMaker {
 public:
  PictureMaker(const Chart& chart, double plot_px) : all_(chart.timeline), plot_px_(plot_px) {}

  TimelinePicture make() {
    choose_recorder();
    choose_step();
    choose_lanes();
    const TimelineLayout layout = lay_out(shown_, kMaxRows);
    measure();
    assign_lanes(layout);
    add_bars(layout);
    add_legend();
    if (layout.too_deep > 0) {
      note(counted(static_cast<std::size_t>(layout.too_deep), "bar overlaps", "bars overlap") +
           fmt::format(" more than {} others; not shown.", kMaxRows - 1));
    }
    return std::move(picture_);
  }

 private:
  void note(std::string sentence) { picture_.notes.push_back(std::move(sentence)); }

  // A static picture of several runs, ranks or steps would be unreadable.
  void choose_recorder() {
    std::set<std::string> runs;
    std::set<std::int64_t> ranks;
    for (const Lane& lane : all_.lanes) runs.insert(lane.run);
    const std::string run = all_.lanes.empty() ? "" : all_.lanes.front().run;
    for (const Lane& lane : all_.lanes)
      if (lane.rank && lane.run == run) ranks.insert(*lane.rank);
    for (const TimelineBar& bar : all_.bars) {
      const Lane& lane = all_.lanes[bar.lane];
      if (lane.run == run && (!lane.rank || *lane.rank == *ranks.begin())) shown_.bars.push_back(bar);
    }
    if (ranks.size() > 1) note(fmt::format("The figure shows only rank {} of {}.", *ranks.begin(), ranks.size()));
    if (runs.size() > 1) note(fmt::format("It shows only one of {} runs: {}.", runs.size(), run));
  }

  void choose_step() {
    shown_.texts = all_.texts;
    shown_.panels = all_.panels;
    std::set<std::int64_t> steps;
    for (const TimelineBar& bar : shown_.bars) {
      if (bar.step != TimelineBar::kNoStep) steps.insert(bar.step);
    }
    if (steps.size() < 2) return;
    const std::int64_t step = *steps.rbegin();
    std::erase_if(shown_.bars, [step](const TimelineBar& bar) { return bar.step != step; });
    note(fmt::format("The figure shows only step {}.", step));
  }

  void choose_lanes() {
    std::vector<bool> used(all_.lanes.size(), false);
    for (const TimelineBar& bar : shown_.bars) used[bar.lane] = true;
    std::vector<std::uint32_t> position(all_.lanes.size(), kNoPosition);
    std::size_t left_out = 0;
    for (std::size_t lane = 0; lane < used.size(); ++lane) {
      if (!used[lane]) continue;
      if (shown_.lanes.size() == kMaxLanes) {
        ++left_out;
        continue;
      }
      position[lane] = static_cast<std::uint32_t>(shown_.lanes.size());
      shown_.lanes.push_back(all_.lanes[lane]);
    }
    for (TimelineBar& bar : shown_.bars) bar.lane = position[bar.lane];
    std::erase_if(shown_.bars, [](const TimelineBar& bar) { return bar.lane == kNoPosition; });
    if (left_out > 0) note("The figure omits " + counted(left_out, "lane.", "lanes."));
  }

  void measure() {
    std::int64_t last = INT64_MIN;
    for (const TimelineBar& bar : shown_.bars) last = std::max(last, bar.end_ns);
    origin_ns_ = origin_of(shown_);
    span_ns_ = std::max(1.0, span_ns(origin_ns_, std::max(origin_ns_, last)));
    const ShownUnit unit = time_unit(span_ns_);
    unit_ns_ = unit.size;
    picture_.unit = unit.name;
    picture_.span = span_ns_ / unit_ns_;
  }

  void assign_lanes(const TimelineLayout& layout) {
    double y = 0;
    const std::string* group = nullptr;
    const std::string* panel = nullptr;
    for (std::size_t lane = 0; lane < shown_.lanes.size(); ++lane) {
      const Lane& each = shown_.lanes[lane];
      if (shown_.panels && (panel == nullptr || *panel != each.panel)) {
        y += panel == nullptr ? 0 : kPanelGap;
        picture_.lines.push_back({each.panel, TimelinePicture::LineKind::kPanel, y, kPanelHeight});
        y += kPanelHeight;
        panel = &each.panel;
        group = nullptr;
      }
      const bool new_group = group == nullptr ? !each.group.empty() : *group != each.group;
      if (new_group) {
        const double height = each.group.empty() ? kRuleHeight : kHeadingHeight;
        picture_.lines.push_back({each.group, TimelinePicture::LineKind::kGroup, y, height});
        y += height;
      }
      group = &each.group;
      const double height = layout.rows[lane] * (kRowHeight + kRowGap) - kRowGap;
      picture_.lines.push_back({each.name, TimelinePicture::LineKind::kLane, y, height});
      lane_top_.push_back(y);
      y += height + kLaneGap;
    }
    picture_.height = y;
  }

  void add_bars(const TimelineLayout& layout) {
    const double cell_ns = span_ns_ / plot_px_;
    const auto runs = merged_runs_within(shown_, layout, origin_ns_, cell_ns, kMaxBars);
    std::size_t events = 0;
    for (const TimelineRun& run : runs) {
      const TimelineTrack& track = layout.tracks[run.track];
      events += run.bars;
      TimelinePicture::Bar bar;
      // Events too short to be visible still get a minimum width, within the picture.
      bar.start = std::min(run.start_ns, span_ns_ - cell_ns / 2) / unit_ns_;
      bar.end = std::max(run.end_ns, run.start_ns + cell_ns / 2) / unit_ns_;
      bar.end = std::min(bar.end, picture_.span);
      bar.top = lane_top_[track.lane] + track.row * (kRowHeight + kRowGap);
      bar.height = kRowHeight;
      bar.colour = colour_of_class(all_, run.bar_class);
      classes_.insert(run.bar_class);
      if (run.bars == 1) bar.label = shown_.texts.text(shown_.bars[track.bars[run.first]].label);
      bar.tooltip = tooltip(run, bar.label);
      picture_.bars.push_back(std::move(bar));
    }
    if (events > runs.size()) {
      note(
          "Events narrower than a pixel are merged with their neighbors and drawn in the color of the class with the "
          "most time: " +
          counted(events, "bar", "bars") + " as " + counted(runs.size(), "rectangle.", "rectangles."));
    }
  }

  std::string tooltip(const TimelineRun& run, const std::string& label) const {
    if (run.bars == 1) return label + ": " + format_duration(run.end_ns - run.start_ns);
    return counted(run.bars, "bar", "bars") + ", mostly " + all_.classes[run.bar_class];
  }

  void add_legend() {
    const std::size_t last = kPalette.size() - 1;
    const bool share = all_.classes.size() > kPalette.size();
    std::size_t others = 0;
    for (const std::uint32_t each : classes_) {
      if (share && each >= last) {
        ++others;
      } else {
        picture_.legend.push_back({all_.classes[each], colour_of_class(all_, each)});
      }
    }
    if (others > 0) picture_.legend.push_back({counted(others, "other class", "other classes"), last});
  }

  static constexpr std::uint32_t kNoPosition = UINT32_MAX;
  const Timeline& all_;
  double plot_px_;
  Timeline shown_;
  TimelinePicture picture_;
  std::int64_t origin_ns_ = 0;
  double span_ns_ = 1;
  double unit_ns_ = 1;
  std::vector<double> lane_top_;
  std::set<std::uint32_t> classes_;
};

}  // namespace

TimelinePicture timeline_picture(const Chart& chart, double plot_px) { return PictureMaker(chart, plot_px).make(); }

std::string picture_notes(const Chart& chart) {
  if (chart.kind == ChartKind::kTimeline) return join(timeline_picture(chart, kTimelinePlotPx).notes, " ");
  if (chart.kind == ChartKind::kRoofline) return roofline_notes(chart.roofline);
  return chart.kind == ChartKind::kArea ? join(area_picture(chart).notes, " ") : "";
}

std::string picture_caption(const Chart& chart) {
  const std::string notes = picture_notes(chart);
  return notes.empty() ? chart.caption : chart.caption + " " + notes;
}

}  // namespace kymo::report
