// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "base/error.hpp"
#include "report/axis.hpp"
#include "report/build.hpp"
#include "report/pgfplots.hpp"
#include "report/renderer.hpp"
#include "report/svg.hpp"
#include "sample_document.hpp"

namespace kymo::report {
namespace {

using ::testing::AllOf;
using testing::built_charts;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::row;
using testing::sample_chart;
using ::testing::ThrowsMessage;

// The charts that a definition with one line chart and a reference line builds from the rows; columns length, rate,
// peak and part.
std::vector<Chart> charts_of(const std::vector<std::vector<ResultCell>>& rows, const std::string& column = "peak",
                             const std::string& split = "part") {
  ChartSpec spec;
  spec.query.name = "rate.sql";
  spec.query.caption = "Rate.";
  spec.query.empty = "None.";
  spec.x = "length";
  spec.y = "rate";
  spec.split = split;
  spec.reference_line = column;
  spec.reference_line_title = "peak of the device";
  spec.y_axis = {"rate", "TFLOP/s", Scale::kLinear};
  return built_charts(spec, {{"length", "rate", "peak", "part"}, rows});
}

Chart with_reference_line(double value) {
  Chart chart = sample_chart(ChartKind::kLine);
  chart.reference_line = ReferenceLine{"peak of the device", value};
  return chart;
}

TEST(BuildReferenceLine, EachPartHasItsOwnOrNone) {
  const auto charts = charts_of({row(1, 10, 100.5, "a"), row(2, 20, 100.5, "a"), row(1, 5, 50, "b"),
                                 row(2, 6, nullptr, "b"), row(1, 7, nullptr, "c"), row(2, 8, nullptr, "c")});
  ASSERT_EQ(charts.size(), 3u);
  EXPECT_EQ(charts[0].reference_line->title, "peak of the device");
  EXPECT_EQ(charts[0].reference_line->value, 100.5);
  EXPECT_EQ(charts[0].caption, "Rate. a.");
  EXPECT_EQ(charts[1].reference_line->value, 50) << "a row without a value does not take it away";
  EXPECT_FALSE(charts[2].reference_line.has_value());
}

TEST(BuildReferenceLine, OfSeveralTheLargestIsDrawnAndSaidToBe) {
  const auto charts = charts_of({row(1, 10, 60, "a"), row(2, 20, 100, "a"), row(3, 30, 60, "a")});
  EXPECT_EQ(charts.at(0).reference_line->value, 100);
  EXPECT_EQ(charts[0].caption, "Rate. a. The dashed line is the largest of 2 values.");
}

TEST(BuildReferenceLine, NamesWhatIsNoNumber) {
  EXPECT_THAT([] { charts_of({row(1, 10, 100, "a"), row(2, 20, "fa\nst", "a")}); },
              ThrowsMessage<UsageError>(
                  "rate.sql: column 'peak', a reference line, must contain finite numbers or NULL, not 'fa\\nst'"));
  EXPECT_THAT([] { charts_of({row(1, 10, INFINITY, "a")}); },
              ThrowsMessage<UsageError>(HasSubstr("must contain finite numbers or NULL")));
  EXPECT_THAT(
      [] { charts_of({row(1, 10, 100, "a")}, "paek"); },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("rate.sql: the query has no column 'paek'"), HasSubstr("'peak'"))));
}

TEST(BuildReferenceLine, AloneMakesNoChart) { EXPECT_TRUE(charts_of({row(1, nullptr, 100, "a")}).empty()); }

TEST(ValueAxis, ReachesUpToTheReferenceLine) {
  EXPECT_GE(value_axis(with_reference_line(989.5)).high, 989.5);
  Chart chart = with_reference_line(0.3);
  chart.y.scale = Scale::kLog;
  EXPECT_EQ(value_axis(chart).scale, Scale::kLog);
  EXPECT_LE(value_axis(chart).low, 0.3) << "a reference line below all values is within the axis";
  chart.reference_line->value = 0;
  EXPECT_EQ(value_axis(chart).scale, Scale::kLinear) << "nothing at zero can be drawn on a logarithm";
}

TEST(ValueAxis, EndsShortlyAboveTheReferenceLine) {
  for (const double value : {0.3, 10.1, 101.0, 989.5, 2001.0, 67e6}) {
    for (const Scale scale : {Scale::kLinear, Scale::kLog, Scale::kAuto}) {
      Chart chart = with_reference_line(value);
      chart.y.scale = scale;
      double highest = value;
      for (const Series& series : chart.series)
        for (const Point& point : series.points) highest = std::max(highest, point.y.value_or(0));
      EXPECT_LE(value_axis(chart).high, 1.2 * highest) << value;
    }
  }
}

TEST(ReferenceLineLabel, HasValueAndUnit) {
  EXPECT_EQ(reference_line_label(with_reference_line(12345)), "peak of the device (12\u202F345 ms)");
  Chart chart = with_reference_line(66.94);
  chart.y.unit = "";
  EXPECT_EQ(reference_line_label(chart), "peak of the device (66.94)");
  chart.reference_line->value = 100;
  EXPECT_EQ(reference_line_label(chart), "peak of the device (100)");
  chart.reference_line->value = 0.5;
  EXPECT_EQ(reference_line_label(chart), "peak of the device (0.5)");
  chart.reference_line.reset();
  EXPECT_EQ(reference_line_label(chart), "");
}

// Height and ends of the dashed lines of an SVG.
std::vector<std::array<double, 3>> dashes_of(const std::string& svg) {
  static const std::regex kLine(
      R"re(<line class="ka" x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)"[^>]*stroke-dasharray)re");
  std::vector<std::array<double, 3>> lines;
  for (std::sregex_iterator it(svg.begin(), svg.end(), kLine), end; it != end; ++it)
    lines.push_back({std::stod((*it)[2]), std::stod((*it)[1]), std::stod((*it)[3])});
  return lines;
}

TEST(SvgReferenceLine, StandsWhereTheFiguresOfItsHeightDo) {
  for (const Scale scale : {Scale::kLinear, Scale::kLog}) {
    Chart chart = with_reference_line(41);
    chart.y.scale = scale;
    const std::string svg = inline_svg(chart);
    const auto lines = dashes_of(svg);
    ASSERT_EQ(lines.size(), 2u) << "the line and its sample in the legend";
    static const std::regex kHighest(
        R"re(<rect class="kf1"[^>]* y="([\d.]+)" width="7" height="7"[^>]*><title>256.000, large: 41)re");
    std::smatch match;
    ASSERT_TRUE(std::regex_search(svg, match, kHighest));
    const auto& line = lines[0][2] - lines[0][1] > 100 ? lines[0] : lines[1];
    EXPECT_NEAR(line[0], std::stod(match[1]) + 3.5, 0.02);
    EXPECT_GT(line[2] - line[1], 600) << "from edge to edge";
    EXPECT_THAT(svg, HasSubstr(">peak of the device (41 ms)</text>"));
    EXPECT_THAT(svg, HasSubstr("<title>A sample. Dashed: peak of the device (41 ms).</title>"));
  }
}

TEST(SvgReferenceLine, ASingleSeriesHasTheReferenceLineAloneInItsLegend) {
  Chart chart = with_reference_line(41);
  chart.series.resize(1);
  const std::string svg = inline_svg(chart);
  EXPECT_EQ(dashes_of(svg).size(), 2u);
  EXPECT_THAT(svg, Not(HasSubstr(">small</text>")));
  chart.reference_line.reset();
  EXPECT_TRUE(dashes_of(inline_svg(chart)).empty());
}

TEST(PgfReferenceLine, IsDrawnAndNamedOnce) {
  const std::string picture = pgfplots_picture(with_reference_line(989.5));
  EXPECT_THAT(picture,
              HasSubstr("({rel axis cs:0,0} |- {axis cs:128,989.5}) -- ({rel axis cs:1,0} |- {axis cs:128,989.5})"));
  EXPECT_THAT(picture, HasSubstr("\\addlegendentry{peak of the device (989.5 ms)}"));
  EXPECT_THAT(picture, Not(HasSubstr("forget plot")));
  Chart chart = with_reference_line(989.5);
  chart.series.resize(1);
  EXPECT_THAT(pgfplots_picture(chart), HasSubstr("forget plot")) << "or the entry would be that of the series";
  chart.reference_line.reset();
  EXPECT_THAT(pgfplots_picture(chart), AllOf(Not(HasSubstr("forget plot")), Not(HasSubstr("rel axis cs"))));
}

TEST(MarkdownReferenceLine, IsInTheFigure) {
  Document document;
  document.sections.push_back({"H", 1, {with_reference_line(41)}});
  const auto files = render_markdown(document);
  EXPECT_THAT(files.at(1).content, HasSubstr("peak of the device (41 ms)"));
}

}  // namespace
}  // namespace kymo::report
