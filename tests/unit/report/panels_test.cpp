// SPDX-License-Identifier: Apache-2.0
// Small multiples: the key `panel` of line and bar charts.
#include "report/panels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/axis.hpp"
#include "report/build.hpp"
#include "report/pgfplots.hpp"
#include "report/svg.hpp"
#include "sample_document.hpp"

namespace kymo::report {
namespace {

using ::testing::AllOf;
using testing::built_charts;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::row;
using Rows = std::vector<std::vector<ResultCell>>;

ChartSpec spec_of(ChartKind kind) {
  ChartSpec spec;
  spec.query = {"rate.sql", "", "Rate by length:", "None.", {}, {}, {}, {}};
  spec.kind = kind;
  spec.x = "length";
  spec.y = "rate";
  spec.series = "name";
  spec.panel = "part";
  spec.y_axis = {"rate", "TFLOP/s", Scale::kLinear};
  return spec;
}

Chart chart_of(const ChartSpec& spec, const Rows& rows) {
  return built_charts(spec, {{"length", "rate", "name", "part", "peak"}, rows}).at(0);
}

// The second part has a series of its own, and not the second one of the first part.
const Rows kRows{row(1, 10, "own", "a", 50), row(2, 20, "own", "a", 50), row(1, 12, "other", "a", 50),
                 row(2, 30, "own", "b", 200), row(4, 90, "third", "b", 200)};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Panels, HaveThePointsOfTheirPartAndTheSeriesOfAll) {
  const Chart chart = chart_of(spec_of(ChartKind::kLine), kRows);
  EXPECT_EQ(chart.caption, "Rate by length.");
  ASSERT_EQ(chart.panels.size(), 2u);
  EXPECT_EQ(chart.series[0].points.size(), 3u) << "of both panels";
  const Chart first = panel_chart(chart, 0), second = panel_chart(chart, 1);
  EXPECT_EQ(first.caption, "a");
  const auto sizes = [](const Chart& panel) {
    std::vector<std::size_t> all;
    for (const Series& series : panel.series) all.push_back(series.points.size());
    return all;
  };
  EXPECT_THAT(sizes(first), ElementsAre(2u, 1u, 0u));
  EXPECT_THAT(sizes(second), ElementsAre(1u, 0u, 1u));
  EXPECT_EQ(second.series[2].name, "third");
}

TEST(Panels, OfOneValueAreAPlainChart) {
  const Chart chart = chart_of(spec_of(ChartKind::kLine), {kRows[0], kRows[1]});
  EXPECT_TRUE(chart.panels.empty());
  EXPECT_EQ(chart.caption, "Rate by length: a.");
}

TEST(Panels, ShareAxesThatFitAllOfThem) {
  EXPECT_GE(value_axis(chart_of(spec_of(ChartKind::kLine), kRows)).high, 90);
  ChartSpec bars = spec_of(ChartKind::kBar);
  bars.stacked = true;
  const Chart chart = chart_of(bars, kRows);
  EXPECT_THAT(chart.categories, ElementsAre("1", "2", "4"));
  EXPECT_LT(value_axis(chart).high, 110) << "bars of different panels are not stacked";
}

TEST(Panels, HaveReferenceLinesOfTheirOwn) {
  ChartSpec spec = spec_of(ChartKind::kLine);
  spec.reference_line = "peak";
  spec.reference_line_title = "device peak";
  const Chart chart = chart_of(spec, kRows);
  EXPECT_EQ(panel_chart(chart, 0).reference_line->value, 50);
  EXPECT_EQ(chart.reference_line->value, 200);
  EXPECT_EQ(reference_line_label(chart), "device peak") << "the values are in the panels";
  for (const std::string& picture : {inline_svg(chart), pgfplots_picture(chart)})
    EXPECT_THAT(picture, AllOf(HasSubstr("device peak"), HasSubstr("50"), HasSubstr("200"))) << picture;
  Rows same = kRows;
  for (auto& each : same) each[4] = row(70)[0];
  EXPECT_EQ(reference_line_label(chart_of(spec, same)), "device peak (70 TFLOP/s)");
}

TEST(Panels, AreAtMostTwelvePerFigure) {
  Rows rows;
  for (int part = 0; part < 14; ++part) rows.push_back(row(1, part, "own", "part " + std::to_string(part), 0));
  const auto charts = built_charts(spec_of(ChartKind::kLine), {{"length", "rate", "name", "part", "peak"}, rows});
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0].panels.size(), 12u);
  EXPECT_EQ(charts[1].panels.back().title, "part 13");
}

TEST(Panels, FormAGrid) {
  Chart chart;
  const auto grid = [&chart](std::size_t count) {
    chart.panels.resize(count);
    const PanelGrid found = panel_grid(chart);
    return std::pair(found.columns, found.rows);
  };
  EXPECT_EQ(grid(2), std::pair(2ul, 1ul));
  EXPECT_EQ(grid(3), std::pair(3ul, 1ul));
  EXPECT_EQ(grid(4), std::pair(2ul, 2ul));
  EXPECT_EQ(grid(7), std::pair(3ul, 3ul));
  EXPECT_FALSE(is_lowest_panel(chart, 3));
  for (const std::size_t lowest : {4u, 5u, 6u}) EXPECT_TRUE(is_lowest_panel(chart, lowest));
}

TEST(Panels, HaveOneLegendAndNoLabelsInBetween) {
  Rows rows;
  for (const char* part : {"a", "b", "c", "d"})
    for (const double length : {1000.0, 2000.0, 3000.0}) rows.push_back(row(length, length / 1000, "own", part, 0));
  rows.push_back(row(1000, 2, "other", "a", 0));
  for (const ChartKind kind : {ChartKind::kLine, ChartKind::kBar}) {
    const Chart chart = chart_of(spec_of(kind), rows);
    const std::string svg = inline_svg(chart);
    EXPECT_EQ(count_of(svg, ">own</text>"), 1u);
    EXPECT_EQ(count_of(svg, ">rate (TFLOP/s)</text>"), 1u);
    for (const char* part : {"a", "b", "c", "d"}) EXPECT_EQ(count_of(svg, std::string(">") + part + "</text>"), 1u);
    const std::string tex = pgfplots_picture(chart);
    EXPECT_EQ(count_of(tex, "\\nextgroupplot"), 4u);
    EXPECT_EQ(count_of(tex, "\\addlegendentry{own}"), 1u);
    EXPECT_EQ(count_of(tex, "ylabel={rate"), 1u);
    EXPECT_EQ(count_of(tex, ", xticklabels={}"), 2u);
  }
}

TEST(Panels, LeaveOutLabelsThatWouldTouch) {
  Rows rows;
  for (const char* part : {"a", "b", "c"})
    for (double length = 1024; length < 200000; length *= 2) rows.push_back(row(length, 1, "own", part, 0));
  ChartSpec spec = spec_of(ChartKind::kLine);
  spec.x_axis.scale = Scale::kLog;
  const std::string svg = inline_svg(chart_of(spec, rows));
  EXPECT_EQ(count_of(svg, ">1024</text>"), 3u);
  EXPECT_EQ(count_of(svg, ">2048</text>"), 0u);
  const std::string tex = pgfplots_picture(chart_of(spec, rows));
  EXPECT_THAT(tex, AllOf(HasSubstr("xticklabels={{1024},{},"), Not(HasSubstr("2048}"))));
}

}  // namespace
}  // namespace kymo::report
