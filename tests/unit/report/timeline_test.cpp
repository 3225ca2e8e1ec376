// SPDX-License-Identifier: Apache-2.0
#include "report/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.hpp"
#include "report/build.hpp"
#include "report/palette.hpp"
#include "report/timeline_picture.hpp"
#include "sample_document.hpp"

namespace kymo::report {
namespace {

using ::testing::AllOf;
using testing::bar;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::row;
using ::testing::ThrowsMessage;
using testing::timeline_of;

// The row of each bar; -1 for omitted bars.
std::vector<int> rows_of(const Timeline& timeline, std::uint32_t max_rows = 100) {
  std::vector<int> rows(timeline.bars.size(), -1);
  for (const TimelineTrack& track : lay_out(timeline, max_rows).tracks) {
    for (const std::uint32_t i : track.bars) rows[i] = static_cast<int>(track.row);
  }
  return rows;
}

TEST(TimelineLayout, NestedBarsStandBelowWhatTheyLieIn) {
  EXPECT_THAT(rows_of(timeline_of({bar(0, 100), bar(0, 40), bar(10, 20), bar(40, 90), bar(100, 120)})),
              ElementsAre(0, 1, 2, 1, 0));
}

TEST(TimelineLayout, TheOrderOfTheRowsDoesNotMatter) {
  EXPECT_THAT(rows_of(timeline_of({bar(10, 20), bar(40, 90), bar(0, 40), bar(0, 100)})), ElementsAre(2, 1, 1, 0));
}

TEST(TimelineLayout, CrossingBarsGoDeeperToo) {
  EXPECT_THAT(rows_of(timeline_of({bar(0, 10), bar(5, 15), bar(10, 20)})), ElementsAre(0, 1, 0));
}

TEST(TimelineLayout, BarsWithoutLengthKeepApart) {
  EXPECT_THAT(rows_of(timeline_of({bar(5, 5), bar(5, 5), bar(0, 5), bar(5, 9)})), ElementsAre(1, 2, 0, 0));
}

TEST(TimelineLayout, NegativeAndExtremeTimes) {
  EXPECT_THAT(rows_of(timeline_of({bar(-100, -50), bar(-80, -60), bar(-50, 0)})), ElementsAre(0, 1, 0));
  const Timeline extreme =
      timeline_of({bar(INT64_MIN, INT64_MAX), bar(INT64_MAX, INT64_MAX), bar(INT64_MIN, INT64_MIN)});
  EXPECT_THAT(rows_of(extreme), ElementsAre(0, 0, 1));
  EXPECT_DOUBLE_EQ(span_ns(INT64_MIN, INT64_MAX), 0x1p64);
  EXPECT_EQ(span_ns(1'700'000'000'000'000'001, 1'700'000'000'000'000'002), 1);
  EXPECT_EQ(span_ns(5, 3), -2);
}

TEST(TimelineLayout, LanesAreStackedByThemselves) {
  const TimelineLayout layout = lay_out(timeline_of({bar(0, 10, 1), bar(0, 10, 0), bar(2, 3, 1)}), 100);
  EXPECT_THAT(layout.rows, ElementsAre(1, 2));
  EXPECT_EQ(layout.tracks.size(), 3u);
}

TEST(TimelineLayout, WhatIsTooDeepIsCounted) {
  const Timeline timeline = timeline_of({bar(0, 10), bar(1, 9), bar(2, 8), bar(3, 7), bar(10, 11)});
  EXPECT_THAT(rows_of(timeline, 2), ElementsAre(0, 1, -1, -1, 0));
  EXPECT_EQ(lay_out(timeline, 2).too_deep, 2);
}

TEST(TimelineLayout, NoBars) {
  EXPECT_TRUE(lay_out(Timeline{}, 4).tracks.empty());
  EXPECT_TRUE(merged_runs(Timeline{}, {}, 0, 1).empty());
}

// Every bar is in exactly one row and overlaps none in it, for any input.
TEST(TimelineLayout, RandomBarsNeverOverlapInARow) {
  std::mt19937 random(7);
  std::vector<TimelineBar> bars;
  for (int i = 0; i < 3000; ++i) {
    const auto start = static_cast<std::int64_t>(random() % 2000);
    bars.push_back(bar(start, start + static_cast<std::int64_t>(random() % 30), random() % 3));
  }
  const Timeline timeline = timeline_of(bars);
  const TimelineLayout layout = lay_out(timeline, 1000);
  std::size_t placed = 0;
  for (const TimelineTrack& track : layout.tracks) {
    placed += track.bars.size();
    for (std::size_t i = 1; i < track.bars.size(); ++i) {
      const TimelineBar& before = bars[track.bars[i - 1]];
      const TimelineBar& after = bars[track.bars[i]];
      ASSERT_LE(before.end_ns, after.start_ns);
      ASSERT_LT(before.start_ns, after.start_ns);
    }
  }
  EXPECT_EQ(placed, bars.size());
}

TEST(KeepLongest, KeepsTheirOrderAndCountsTheRest) {
  std::vector<TimelineBar> bars{bar(0, 1), bar(1, 9), bar(9, 11), bar(11, 13), bar(20, 25)};
  EXPECT_EQ(keep_longest(bars, 3), 2);
  ASSERT_EQ(bars.size(), 3u);
  EXPECT_EQ(bars[0].start_ns, 1);
  EXPECT_EQ(bars[1].start_ns, 9) << "the earlier of two that are as long";
  EXPECT_EQ(bars[2].start_ns, 20);
  EXPECT_EQ(keep_longest(bars, 3), 0);
}

std::vector<TimelineRun> runs_of(const Timeline& timeline, double cell_ns) {
  return merged_runs(timeline, lay_out(timeline, 100), 0, cell_ns);
}

TEST(MergedRuns, NarrowNeighboursOfOneClassBecomeOne) {
  const auto runs = runs_of(timeline_of({bar(0, 2), bar(3, 5), bar(11, 13), bar(40, 42), bar(50, 90)}), 10);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].bars, 3u);
  EXPECT_EQ(runs[0].start_ns, 0);
  EXPECT_EQ(runs[0].end_ns, 13);
  EXPECT_EQ(runs[1].bars, 1u);
  EXPECT_EQ(runs[2].bars, 1u);
}

TEST(MergedRuns, ACellHasTheClassThatTakesTheMostTime) {
  const auto runs = runs_of(timeline_of({bar(0, 1, 0, 0), bar(1, 5, 0, 1), bar(5, 7, 0, 0), bar(10, 14, 0, 0)}), 10);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].bar_class, 1u);
  EXPECT_EQ(runs[0].bars, 3u);
  EXPECT_EQ(runs[1].bar_class, 0u);
}

TEST(MergedRuns, WideBarsStandByThemselves) {
  EXPECT_EQ(runs_of(timeline_of({bar(0, 20), bar(20, 40), bar(40, 60)}), 10).size(), 3u);
}

TEST(MergedRuns, StayWithinTheirNumber) {
  std::vector<TimelineBar> bars;
  for (int i = 0; i < 50'000; ++i)
    bars.push_back(bar(i * 10, i * 10 + 9, static_cast<std::uint32_t>(i % 4), static_cast<std::uint32_t>(i % 7)));
  const Timeline timeline = timeline_of(bars);
  const auto runs = merged_runs_within(timeline, lay_out(timeline, 8), 0, 1, 2000);
  EXPECT_LE(runs.size(), 2000u);
  EXPECT_GT(runs.size(), 500u);
  std::size_t events = 0;
  for (const TimelineRun& run : runs) events += run.bars;
  EXPECT_EQ(events, bars.size()) << "each bar is in one run";
}

const QueryFile& query() {
  static const QueryFile file = [] {
    QueryFile made;
    made.name = "timeline.sql";
    made.caption = "C.";
    return made;
  }();
  return file;
}

const std::vector<std::string> kColumns{"lane", "start_ns", "end_ns", "label", "class", "detail", "group", "step"};

TEST(BuildTimeline, KeepsGroupsTogetherAndOrdersClassesByTime) {
  const Chart chart = testing::sample_timeline();
  std::vector<std::string> lanes;
  for (const Lane& lane : chart.timeline.lanes) lanes.push_back(lane.group + "/" + lane.name);
  EXPECT_THAT(lanes, ElementsAre("GPU/stream 7", "GPU/stream 9", "/phases", "/scopes"));
  EXPECT_THAT(chart.timeline.classes, ElementsAre("scope", "phase", "matmul", "softmax", "copy"));
  EXPECT_EQ(chart.timeline.texts.text(chart.timeline.bars[3].label), "memcpy");
  EXPECT_EQ(chart.timeline.lanes[chart.timeline.bars[3].lane].name, "stream 9");
  EXPECT_EQ(chart.caption, "A step.");
}

TEST(BuildTimeline, NamesTheColumnThatIsMissing) {
  for (const char* missing : {"lane", "start_ns", "end_ns", "label", "class"}) {
    Result result{kColumns, {}};
    std::erase(result.columns, missing);
    EXPECT_THAT(
        [&] { build_timeline(query(), result); },
        ThrowsMessage<UsageError>(AllOf(HasSubstr("timeline.sql"), HasSubstr("'" + std::string(missing) + "'"))));
  }
  EXPECT_FALSE(build_timeline(query(), {{"lane", "start_ns", "end_ns", "label", "class"}, {}}).has_value())
      << "the others may be missing";
}

TEST(BuildTimeline, CountsWhatCannotBeDrawnAsItIs) {
  const Chart chart = *build_timeline(
      query(),
      {kColumns,
       {row("a", 10, 5, "backwards", "c", nullptr, nullptr, 0), row("a", nullptr, 5, "x", "c", nullptr, nullptr, 0),
        row("a", "soon", 7, "y", "c", nullptr, nullptr, 0), row(nullptr, 1.4, 2.6, nullptr, nullptr, 3, 4, nullptr)}});
  EXPECT_THAT(chart.caption, HasSubstr("2 rows without a start or an end are left out."));
  EXPECT_THAT(chart.caption, HasSubstr("Rows that end before they start are drawn with zero length: 1."));
  ASSERT_EQ(chart.timeline.bars.size(), 2u);
  EXPECT_EQ(chart.timeline.bars[0].end_ns, 10);
  EXPECT_EQ(chart.timeline.bars[1].start_ns, 1);
  EXPECT_EQ(chart.timeline.bars[1].end_ns, 3);
  EXPECT_EQ(chart.timeline.lanes[1].group, "4");
}

TEST(BuildTimeline, PanelsHaveLanesOfTheirOwnAndClassesInCommon) {
  const Chart chart = testing::sample_panels();
  EXPECT_TRUE(chart.timeline.panels);
  std::vector<std::string> lanes;
  for (const Lane& lane : chart.timeline.lanes) lanes.push_back(lane.panel + "/" + lane.group + "/" + lane.name);
  EXPECT_THAT(lanes, ElementsAre("after: 2 ms/GPU/phases", "after: 2 ms/GPU/streams", "after: 2 ms/host/host",
                                 "beside: 1 ms/GPU/streams", "beside: 1 ms/GPU/phases"));
  EXPECT_THAT(chart.timeline.classes, ElementsAre("phase", "communication"));
}

TEST(BuildTimeline, PanelsNeedTheirColumnAndOneStepEach) {
  EXPECT_THAT([] { build_timeline(query(), {kColumns, {}}, "stratgy"); },
              ThrowsMessage<UsageError>(HasSubstr("timeline.sql: the query has no column 'stratgy'")));
  EXPECT_THAT([] { build_timeline(query(), {kColumns, {}}, "group"); },
              ThrowsMessage<UsageError>(
                  "timeline.sql: a panel of a timeline shows a single step; remove the column 'step' from the query"));
}

TEST(BuildTimeline, NothingToDraw) {
  EXPECT_FALSE(build_timeline(query(), {kColumns, {}}).has_value());
  EXPECT_FALSE(build_timeline(query(), {kColumns, {row("a", nullptr, nullptr, "x", "c", "", "", 0)}}).has_value());
}

Chart chart_of(const std::vector<TimelineBar>& bars) {
  Chart chart;
  chart.kind = ChartKind::kTimeline;
  chart.timeline = timeline_of(bars);
  return chart;
}

TEST(TimelinePicture, OneEventFillsIt) {
  const TimelinePicture picture = timeline_picture(chart_of({bar(-5'000'000, -3'000'000)}), kTimelinePlotPx);
  EXPECT_EQ(picture.unit, "ms");
  EXPECT_DOUBLE_EQ(picture.span, 2);
  ASSERT_EQ(picture.bars.size(), 1u);
  EXPECT_DOUBLE_EQ(picture.bars[0].start, 0);
  EXPECT_DOUBLE_EQ(picture.bars[0].end, 2);
  EXPECT_TRUE(picture.notes.empty());
}

TEST(TimelinePicture, AnEventWithoutLengthIsStillSeen) {
  for (const auto& bars : {std::vector{bar(7, 7)}, std::vector{bar(0, 1000), bar(1000, 1000), bar(500, 500)}}) {
    for (const auto& each : timeline_picture(chart_of(bars), kTimelinePlotPx).bars) {
      EXPECT_GT(each.end, each.start);
      EXPECT_GE(each.start, 0);
    }
  }
}

TEST(TimelinePicture, ShowsTheLastStepAndSaysSo) {
  std::vector<TimelineBar> bars{bar(0, 10), bar(20, 30), bar(40, 45)};
  bars[1].step = 1;
  bars[2].step = 2;
  const TimelinePicture picture = timeline_picture(chart_of(bars), kTimelinePlotPx);
  EXPECT_EQ(picture.bars.size(), 1u);
  EXPECT_THAT(picture.notes, ElementsAre("The figure shows only step 2."));
}

TEST(TimelinePicture, SaysWhatItMergesAndLeavesOut) {
  std::vector<TimelineBar> bars;
  for (std::uint32_t lane = 0; lane < 40; ++lane) {
    for (int i = 0; i < 500; ++i) bars.push_back(bar(i * 100, i * 100 + 50, lane, static_cast<std::uint32_t>(i % 20)));
  }
  for (int depth = 0; depth < 12; ++depth) bars.push_back(bar(60'000 + depth, 70'000 - depth, 0));
  const TimelinePicture picture = timeline_picture(chart_of(bars), kTimelinePlotPx);
  EXPECT_LE(picture.bars.size(), 2000u);
  EXPECT_THAT(picture.notes, ::testing::Contains("The figure omits 8 lanes."));
  EXPECT_THAT(picture.notes, ::testing::Contains(HasSubstr("4 bars overlap more than 7 others")));
  EXPECT_THAT(picture.notes, ::testing::Contains(AllOf(HasSubstr("16\u202F008 bars as"), HasSubstr("rectangles"))));
  for (const auto& each : picture.bars) EXPECT_LT(each.colour, kPalette.size());
}

TEST(TimelinePicture, ManyClassesShareTheLastColour) {
  std::vector<TimelineBar> bars;
  for (std::uint32_t i = 0; i < 30; ++i) bars.push_back(bar(i * 100, i * 100 + 90, 0, i));
  const TimelinePicture picture = timeline_picture(chart_of(bars), kTimelinePlotPx);
  ASSERT_EQ(picture.legend.size(), kPalette.size());
  EXPECT_EQ(picture.legend.back().text, "15 other classes");
}

TEST(TimelinePicture, PanelsShareAnAxisThatBeginsAtZero) {
  using LineKind = TimelinePicture::LineKind;
  const TimelinePicture picture = timeline_picture(testing::sample_panels(), kTimelinePlotPx);
  EXPECT_DOUBLE_EQ(picture.span, 2);
  std::vector<std::string> lines;
  for (const auto& line : picture.lines) {
    lines.push_back((line.kind == LineKind::kPanel ? "# " : line.kind == LineKind::kGroup ? "## " : "") + line.text);
  }
  EXPECT_THAT(lines, ElementsAre("# after: 2 ms", "## GPU", "phases", "streams", "## host", "host", "# beside: 1 ms",
                                 "## GPU", "streams", "phases"));
  for (std::size_t i = 1; i < picture.lines.size(); ++i)
    EXPECT_GE(picture.lines[i].top, picture.lines[i - 1].top + picture.lines[i - 1].height)
        << "no line stands on the one before";
  double first = 2;
  double last = 0;
  for (const auto& each : picture.bars) {
    if (each.top < picture.lines[6].top) continue;
    first = std::min(first, each.start);
    last = std::max(last, each.end);
  }
  EXPECT_NEAR(first, 0.1, 1e-9) << "not moved to the first event of its panel";
  EXPECT_NEAR(last, 1, 1e-9) << "nor stretched";
}

TEST(TimelinePicture, AnEventBeforeZeroMovesTheAxisOfPanels) {
  Chart chart = chart_of({bar(-1'000'000, 1'000'000)});
  chart.timeline.panels = true;
  EXPECT_DOUBLE_EQ(timeline_picture(chart, kTimelinePlotPx).span, 2);
  chart = chart_of({bar(1'000'000, 3'000'000)});
  EXPECT_DOUBLE_EQ(timeline_picture(chart, kTimelinePlotPx).span, 2);
  chart.timeline.panels = true;
  EXPECT_DOUBLE_EQ(timeline_picture(chart, kTimelinePlotPx).span, 3);
}

TEST(TimelinePicture, NoBarCoversAnother) {
  const TimelinePicture picture = timeline_picture(testing::sample_timeline(), kTimelinePlotPx);
  for (std::size_t i = 0; i < picture.bars.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto& a = picture.bars[i];
      const auto& b = picture.bars[j];
      const bool apart =
          a.top >= b.top + b.height || b.top >= a.top + a.height || a.start >= b.end - 1e-9 || b.start >= a.end - 1e-9;
      EXPECT_TRUE(apart) << a.label << " and " << b.label;
    }
  }
}

}  // namespace
}  // namespace kymo::report
