// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/colours.hpp"
#include "report/palette.hpp"
#include "report/pgfplots.hpp"
#include "report/svg.hpp"
#include "sample_document.hpp"

namespace kymo::report {
namespace {

using testing::built_charts;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::row;

/// The charts of a definition with one chart per part; columns length, rate, kernel and part.
std::vector<Chart> charts_of(const std::vector<std::vector<ResultCell>>& rows, ChartKind kind,
                             const std::string& split = "part") {
  ChartSpec spec;
  spec.query.name = "rate.sql";
  spec.query.caption = "Rate.";
  spec.query.empty = "None.";
  spec.kind = kind;
  spec.x = "length";
  spec.y = "rate";
  spec.series = "kernel";
  spec.split = split;
  return built_charts(spec, {{"length", "rate", "kernel", "part"}, rows});
}

TEST(SeriesColours, AreTheSameInAllPicturesOfAChart) {
  for (const ChartKind kind : {ChartKind::kLine, ChartKind::kBar}) {
    const auto charts = charts_of({row(1, 10, "ours", "a"), row(1, 9, "naive", "a"), row(1, 8, "library", "a"),
                                   row(1, 10, "ours", "b"), row(1, 8, "library", "b")},
                                  kind);
    ASSERT_EQ(charts.size(), 2u);
    EXPECT_EQ(charts[1].series.at(1).name, "library");
    EXPECT_EQ(colour_of(charts[1], 0), 0u);
    EXPECT_EQ(colour_of(charts[1], 1), 2u) << "as where the one between them is there";
  }
}

TEST(SeriesColours, AreDrawnInPictureAndLegend) {
  const auto charts =
      charts_of({row(1, 9, "naive", "a"), row(1, 8, "library", "a"), row(1, 7, "ours", "b"), row(1, 8, "library", "b")},
                ChartKind::kLine);
  const std::string svg = inline_svg(charts.at(1));
  EXPECT_THAT(svg, HasSubstr("kl2")) << "ours is the third name of all";
  EXPECT_THAT(svg, HasSubstr("kl1"));
  EXPECT_THAT(svg, Not(HasSubstr("kl0"))) << "the one that is not in this picture";
  const std::string latex = pgfplots_picture(charts.at(1));
  EXPECT_THAT(latex, HasSubstr("\\addplot[kymoc"));
  EXPECT_THAT(latex, Not(HasSubstr("\\addplot[kymoa")));
}

TEST(SeriesColours, ArePlacesInThePictureWhereThereAreTooManyNames) {
  std::vector<std::vector<ResultCell>> rows;
  for (std::size_t i = 0; i <= kLineColours; ++i)
    rows.push_back(row(1, 1, ("k" + std::to_string(i)).c_str(), i < 5 ? "a" : "b"));
  const auto charts = charts_of(rows, ChartKind::kLine);
  EXPECT_EQ(colour_of(charts.at(1), 0), 0u);
}

TEST(SeriesColours, AreTheSameInAllChartsOfADocument) {
  Document document;
  document.sections.push_back({"H", 1, {}});
  Chart line;
  line.kind = ChartKind::kLine;
  line.query = "line.sql";
  line.series = {{"flash", {}}, {"naive", {}}};
  Chart bars;
  bars.kind = ChartKind::kBar;
  bars.query = "bars.sql";
  bars.series = {{"matmul", {}}, {"naive", {}}, {"flash", {}}};
  Chart timeline;
  timeline.kind = ChartKind::kTimeline;
  timeline.query = "timeline.sql";
  timeline.timeline.classes = {"copy", "matmul"};
  document.sections[0].blocks = {line, bars, timeline};
  assign_colours(document);
  const auto chart = [&document](std::size_t i) { return std::get<Chart>(document.sections[0].blocks[i]); };
  EXPECT_EQ(colour_of(chart(1), 1), colour_of(chart(0), 1));
  EXPECT_EQ(colour_of(chart(1), 2), colour_of(chart(0), 0));
  EXPECT_EQ(colour_of_class(chart(2).timeline, 1), colour_of(chart(1), 0)) << "a class has the color of its series";
  EXPECT_NE(colour_of_class(chart(2).timeline, 0), colour_of_class(chart(2).timeline, 1));
  EXPECT_NE(colour_of(chart(1), 0), colour_of(chart(1), 1));
}

TEST(ChartCaption, StatesTheFindingOfItsRows) {
  ChartSpec spec;
  spec.query.name = "rates.sql";
  spec.query.caption = "Rates:";
  spec.x = "length";
  spec.y = "rate";
  spec.split = "part";
  const auto charts = built_charts(
      spec, {{"length", "rate", "part", "finding"},
             {row(1, 10, "a", nullptr), row(2, 30, "a", "It grows threefold."), row(1, 10, "b", nullptr)}});
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0].caption, "Rates: a. It grows threefold.");
  EXPECT_EQ(charts[1].caption, "Rates: b.");
}

TEST(SeriesColours, OfASinglePictureArePlaces) {
  const auto charts = charts_of({row(1, 9, "naive", "a"), row(1, 8, "library", "a")}, ChartKind::kLine, "");
  EXPECT_EQ(colour_of(charts.at(0), 1), 1u);
}

TEST(SeriesColours, AreGrayForTimeInWhichNothingRuns) {
  const auto charts = charts_of({row(1, 9, "idle", "a"), row(1, 8, "matmul", "a")}, ChartKind::kBar, "");
  EXPECT_EQ(colour_of(charts.at(0), 0), kPalette.size() - 1);
  EXPECT_LT(colour_of(charts.at(0), 1), kPalette.size() - 1);
}

}  // namespace
}  // namespace kymo::report
