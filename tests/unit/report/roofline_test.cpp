// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.hpp"
#include "report/build.hpp"
#include "report/palette.hpp"
#include "report/pgfplots.hpp"
#include "report/renderer.hpp"
#include "report/roofline_drawing.hpp"
#include "report/svg.hpp"
#include "sample_document.hpp"

namespace kymo::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::roofline_of;
using testing::row;
using testing::sample_roofline;
using ::testing::ThrowsMessage;
using Rows = std::vector<std::vector<ResultCell>>;
using Stroke = RooflinePicture::Stroke;

constexpr double kWidth = 760;
const Rows kRoofs{row("memory", "memory", 1e10), row("fp32", "compute", 1e11)};

/// Blocks that a definition with this one chart builds; columns part, label, class, flops, bytes and ms, and part,
/// label, kind and rate.
std::vector<Block> blocks_of(const Rows& marks, const Rows& roofs, const std::string& split = "part") {
  ReportDefinition definition;
  definition.sections.push_back({"H", 1, {}, {}, {}});
  ChartSpec spec;
  spec.query = {"roofline.sql", "marks", "Operators:", "No operators.", {}, {}, {}, {}};
  spec.kind = ChartKind::kRoofline;
  spec.series = "class";
  spec.split = split;
  spec.roofs = QueryFile{"roofs.sql", "roofs", "", "Run `kymo peaks`.", {}, {}, {}, {}};
  definition.sections[0].charts.push_back(spec);
  const auto query = [&](const std::string& sql) {
    return sql == "marks" ? Result{{"part", "label", "class", "flops", "bytes", "ms"}, marks}
                          : Result{{"part", "label", "kind", "rate"}, roofs};
  };
  return build_document(definition, query, "").sections[0].blocks;
}

std::vector<RooflinePicture::Line> lines_of(const RooflinePicture& picture, Stroke stroke) {
  std::vector<RooflinePicture::Line> lines;
  for (const auto& line : picture.lines)
    if (line.stroke == stroke) lines.push_back(line);
  return lines;
}

/// The circle of the mark whose tooltip begins with this label.
RooflinePicture::Circle circle_of(const RooflinePicture& picture, const std::string& label) {
  for (const auto& circle : picture.circles)
    if (circle.tooltip.starts_with(label)) return circle;
  ADD_FAILURE() << label;
  return {};
}

struct Extent {
  double left, top, right, bottom;
};
/// The labels in the plot.
std::vector<Extent> labels_of(const RooflinePicture& picture) {
  std::vector<Extent> extents;
  for (const auto& text : picture.texts) {
    if (text.y < picture.top || text.y > picture.bottom || text.muted || text.rotation != 0) continue;
    const double width = text_width(text.text);
    const double left = text.anchor == Anchor::kEnd ? text.x - width : text.x;
    extents.push_back({left, text.y - 10, left + width, text.y + 3});
  }
  return extents;
}

void expect_apart(const std::vector<Extent>& extents) {
  for (std::size_t i = 0; i < extents.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Extent &a = extents[i], &b = extents[j];
      EXPECT_FALSE(a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) << i << ", " << j;
    }
  }
}

void expect_within_plot(const RooflinePicture& picture) {
  for (const auto& circle : picture.circles) {
    if (circle.tooltip.empty()) continue;  // legend
    EXPECT_GE(circle.x, picture.strip_left);
    EXPECT_LE(circle.x, kWidth);
    EXPECT_GE(circle.y, picture.top) << circle.tooltip;
    EXPECT_LE(circle.y, picture.bottom) << circle.tooltip;
  }
}

TEST(Roofline, CaptionNamesTheLargestMarksAndWhatHasNone) {
  const Chart chart = sample_roofline();
  EXPECT_THAT(chart.caption, HasSubstr("the largest: mm, head (20.0 ms); add (2.00 ms); copy (1.00 ms)."));
  EXPECT_THAT(roofline_notes(chart.roofline),
              AllOf(HasSubstr("outlined"), HasSubstr("as far from the roof of the memory as")));
  Roofline without_roofs = chart.roofline;
  without_roofs.roofs.clear();
  EXPECT_THAT(roofline_notes(without_roofs), AllOf(HasSubstr("outlined"), Not(HasSubstr("roof"))));
  EXPECT_THAT(chart.caption, HasSubstr("known work or time: unknown (0.500 ms)."));
  EXPECT_EQ(chart.roofline.marks.size(), 3u);
  const Chart plain = roofline_of({row("add", "elementwise", 1e6, 12e6, 2.0, "")}, kRoofs);
  EXPECT_THAT(plain.caption, Not(HasSubstr("unknown")));
  EXPECT_EQ(roofline_notes(plain.roofline), "");
}

TEST(Roofline, NamesRowsThatHaveNoQuotients) {
  const Chart chart = roofline_of(
      {row("good", "a", 1, 1, 1.0, ""), row("no time", "b", 1, 1, 0, ""), row("no bytes", "c", 1, 0, 2.0, ""),
       row("negative", "d", -1, 1, 3.0, ""), row("infinite", "e", INFINITY, 1, 4.0, ""),
       row("text", "f", "many", 1, nullptr, ""), row("tiny", "g", 1e-300, 1e300, 5.0, "")},
      kRoofs);
  ASSERT_EQ(chart.roofline.marks.size(), 1u);
  EXPECT_THAT(chart.caption,
              HasSubstr("time: b (0 ms), c (2.00 ms), d (3.00 ms), e (4.00 ms), f (0 ms), g (5.00 ms)."));
}

TEST(Roofline, RoofsMeetAtTheRidgeAndMarksStandBelowThem) {
  const RooflinePicture picture = roofline_picture(
      roofline_of({row("on the slope", "a", 1e9, 1e9, 100.0, ""), row("on the ceiling", "a", 1e11, 1e9, 1e3, ""),
                   row("half", "a", 5e10, 1e9, 1e3, ""), row("copy", "b", 0, 1e9, 100.0, "")},
                  kRoofs),
      kWidth);
  const auto roofs = lines_of(picture, Stroke::kRoof);
  ASSERT_EQ(roofs.size(), 3u) << "slope, its continuation beside the plot, and ceiling";
  const auto &slope = roofs[0], &beside = roofs[1], &ceiling = roofs[2];
  EXPECT_NEAR(slope.x2, ceiling.x1, 1e-6);
  EXPECT_NEAR(slope.y2, ceiling.y1, 1e-6);
  EXPECT_NEAR(ceiling.y1, ceiling.y2, 1e-6);
  EXPECT_NEAR(slope.y1, beside.y1, 1e-6);
  EXPECT_NEAR(beside.y1, beside.y2, 1e-6);
  const auto on = circle_of(picture, "on the slope");
  EXPECT_NEAR((on.x - slope.x1) / (slope.x2 - slope.x1), (on.y - slope.y1) / (slope.y2 - slope.y1), 1e-6);
  EXPECT_NEAR(circle_of(picture, "on the ceiling").y, ceiling.y1, 1e-6);
  EXPECT_GT(circle_of(picture, "half").y, ceiling.y1 + 5);
  const auto copy = circle_of(picture, "copy");
  EXPECT_FALSE(copy.filled);
  EXPECT_NEAR(copy.y, beside.y1, 1e-6) << "it moves bytes at the rate of the memory";
  EXPECT_LT(copy.x, slope.x1);
}

TEST(Roofline, AreasAreProportionalToTimes) {
  const RooflinePicture picture = roofline_picture(
      roofline_of({row("long", "a", 1e9, 1e9, 90.0, ""), row("short", "a", 1e9, 1e9, 10.0, "")}, kRoofs), kWidth);
  EXPECT_NEAR(circle_of(picture, "long").radius / circle_of(picture, "short").radius, 3, 1e-9);
  const auto sample = std::find_if(picture.circles.begin(), picture.circles.end(),
                                   [](const auto& each) { return !each.filled && each.tooltip.empty(); });
  ASSERT_NE(sample, picture.circles.end());
  EXPECT_NEAR(sample->radius, circle_of(picture, "short").radius, 1e-9);
  EXPECT_TRUE(std::any_of(picture.texts.begin(), picture.texts.end(),
                          [](const auto& text) { return text.text == "area of 10 ms"; }));
}

TEST(Roofline, PartsShareAxesAreasAndColours) {
  const auto blocks =
      blocks_of({row("before", "mm", "matmul", 1e9, 1e7, 80.0), row("before", "copy", "copy", 0, 1e6, 5.0),
                 row("after", "sdpa", "attention", 1e9, 1e6, 20.0), row("after", "mm", "matmul", 1e6, 1e7, 1.0)},
                {row("before", "memory", "memory", 1e10), row("before", "fp32", "compute", 1e11),
                 row("after", "bf16", "compute", 4e11)});
  ASSERT_EQ(blocks.size(), 2u);
  const Chart &before = std::get<Chart>(blocks[0]), &after = std::get<Chart>(blocks[1]);
  EXPECT_EQ(before.name, "roofline-before");
  EXPECT_THAT(before.caption, ::testing::StartsWith("Operators: before. "));
  EXPECT_EQ(after.roofline.longest_ms, 80);
  EXPECT_EQ(before.roofline.x_low, after.roofline.x_low);
  EXPECT_EQ(before.roofline.y_high, after.roofline.y_high);
  EXPECT_GT(before.roofline.y_high, 4e11) << "the roof of the other part fits";
  EXPECT_EQ(after.roofline.roofs.size(), 1u);
  EXPECT_EQ(after.roofline.classes.at(after.roofline.marks[0].mark_class), "attention");
  const auto colour = [](const Chart& chart, const std::string& label) {
    return circle_of(roofline_picture(chart, kWidth), label).colour;
  };
  EXPECT_EQ(colour(before, "mm"), colour(after, "mm"));
  EXPECT_NE(colour(before, "copy"), colour(after, "sdpa"));
}

TEST(Roofline, EndsShortlyAboveThePeak) {
  for (const double flops : {1e3, 1e6, 9e9}) {
    const Roofline roofline = roofline_of({row("mm", "matmul", flops, 1e7, 100.0, "")}, kRoofs).roofline;
    EXPECT_GT(roofline.y_high, 1e11);
    EXPECT_LT(roofline.y_high, 2e11);
    EXPECT_LT(roofline.y_low, flops / 0.1);
  }
}

TEST(Roofline, WithoutPeaksSaysWhatMeasuresThem) {
  const auto blocks = blocks_of({row("", "mm", "matmul", 1e9, 1e7, 80.0)}, {}, "");
  ASSERT_EQ(blocks.size(), 2u);
  const auto& prose = std::get<Notice>(blocks[0]).prose;
  EXPECT_EQ(std::get<Paragraph>(prose.at(0)).spans.at(1).text, "kymo peaks");
  const RooflinePicture picture = roofline_picture(std::get<Chart>(blocks[1]), kWidth);
  EXPECT_TRUE(lines_of(picture, Stroke::kRoof).empty());
  expect_within_plot(picture);
}

TEST(Roofline, WithoutRowsOrMarksSaysSo) {
  EXPECT_TRUE(std::holds_alternative<Notice>(blocks_of({}, {}, "").at(0)));
  const auto blocks =
      blocks_of({row("", "mylib::f", "unknown", nullptr, nullptr, 80.0)}, {row("", "fp32", "compute", 1e11)}, "");
  const Chart& chart = std::get<Chart>(blocks.at(0));
  EXPECT_THAT(chart.caption, AllOf(HasSubstr("unknown (80.0 ms)"), Not(HasSubstr("largest"))));
  EXPECT_EQ(lines_of(roofline_picture(chart, kWidth), Stroke::kRoof).size(), 1u);
}

TEST(Roofline, OneOperatorStandsInThePlot) {
  for (const Rows& roofs : {kRoofs, Rows{}, Rows{row("fp32", "compute", 1e11)}, Rows{row("memory", "memory", 1e10)}}) {
    const Chart chart = roofline_of({row("mm", "matmul", 1e9, 1e8, 10.0, "")}, roofs);
    EXPECT_GE(chart.roofline.x_high / chart.roofline.x_low, 99.9);
    EXPECT_GE(chart.roofline.y_high / chart.roofline.y_low, 99.9);
    const RooflinePicture picture = roofline_picture(chart, kWidth);
    expect_within_plot(picture);
    EXPECT_EQ(picture.strip_left, picture.strip_right);
    EXPECT_EQ(lines_of(picture, Stroke::kRoof).size(), roofs.size());
  }
}

TEST(Roofline, CopiesAloneStandBesideThePlot) {
  for (const Rows& roofs : {kRoofs, Rows{}}) {
    const RooflinePicture picture = roofline_picture(
        roofline_of({row("copy", "copy", 0, 1e9, 200.0, ""), row("fill", "copy", 0, 1e6, 200.0, "")}, roofs), kWidth);
    expect_within_plot(picture);
    for (const char* label : {"copy", "fill"}) EXPECT_LT(circle_of(picture, label).x, picture.strip_right);
    EXPECT_GT(circle_of(picture, "fill").y, circle_of(picture, "copy").y + 50) << "it is slower";
  }
}

TEST(Roofline, MarksAboveTheRoofAreInThePlot) {
  const RooflinePicture picture = roofline_picture(
      roofline_of({row("cached", "matmul", 1e12, 1e8, 1.0, ""), row("copy", "copy", 0, 1e9, 1.0, "")}, kRoofs), kWidth);
  expect_within_plot(picture);
  const auto roofs = lines_of(picture, Stroke::kRoof);
  EXPECT_LT(circle_of(picture, "cached").y, roofs.back().y1);
  EXPECT_LT(circle_of(picture, "copy").y, roofs[1].y1);
}

TEST(Roofline, NineDecadesHaveFewTicks) {
  Rows marks;
  for (int i = 0; i < 10; ++i)
    marks.push_back(
        row("op " + std::to_string(i), "a", 1e3 * std::pow(10.0, i), 1e6, 0.01 * std::pow(10.0, i % 3), ""));
  const RooflinePicture picture = roofline_picture(roofline_of(marks, kRoofs), kWidth);
  expect_within_plot(picture);
  expect_apart(labels_of(picture));
  std::vector<double> ends, below;
  for (const auto& text : picture.texts) {
    if (!text.muted) continue;
    (text.anchor == Anchor::kEnd ? ends : below).push_back(text.anchor == Anchor::kEnd ? text.y : text.x);
  }
  EXPECT_THAT(ends.size(), AllOf(::testing::Ge(4u), ::testing::Le(10u)));
  EXPECT_THAT(below.size(), AllOf(::testing::Ge(4u), ::testing::Le(10u)));
  const Chart extreme = roofline_of({row("a", "a", 1e-150, 1e150, 1.0, ""), row("b", "a", 1e150, 1e-100, 1.0, "")}, {});
  EXPECT_LT(roofline_picture(extreme, kWidth).texts.size(), 40u);
}

TEST(Roofline, NegligibleMarksDoNotExtendTheAxes) {
  Chart chart = roofline_of({row("mm", "matmul", 1e9, 1e8, 10.0, ""), row("tiny", "copy", 0, 1, 0.005, ""),
                             row("small", "elementwise", 1, 1e6, 0.004, ""), row("within", "add", 1e5, 1e5, 0.001, "")},
                            kRoofs);
  EXPECT_GT(chart.roofline.x_low, 0.1);
  EXPECT_EQ(roofline_notes(chart.roofline), "Outside of the axes: 2 marks with 0.0090 ms.");
  const RooflinePicture picture = roofline_picture(chart, kWidth);
  EXPECT_EQ(picture.strip_left, picture.strip_right);
  circle_of(picture, "within");
  std::vector<std::string> texts;
  for (const auto& text : picture.texts) texts.push_back(text.text);
  EXPECT_THAT(texts, AllOf(::testing::Contains("mm"), ::testing::Contains("within"), Not(::testing::Contains("tiny"))));
  Document document;
  document.sections.push_back({"H", 1, {chart}});
  for (const auto render : {render_html, render_markdown, render_latex, render_typst})
    EXPECT_THAT(render(document)[0].content, HasSubstr("Outside of the axes"));
}

TEST(Roofline, LabelsOfMarksAndRoofsDoNotOverlap) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(0, 2);
  for (int round = 0; round < 20; ++round) {
    Rows marks;
    for (int i = 0; i < 40; ++i) {
      marks.push_back(row("aten::operator_" + std::to_string(i), "class " + std::to_string(i % 5),
                          1e8 * std::pow(10.0, exponent(random)), 1e7 * std::pow(10.0, exponent(random)),
                          std::pow(10.0, exponent(random)), ""));
    }
    const RooflinePicture picture = roofline_picture(
        roofline_of(marks, {row("memory", "memory", 1e10), row("fp32", "compute", 3e10), row("tf32", "compute", 1e11),
                            row("bf16", "compute", 1.01e11), row("fp16", "compute", 1.02e11)}),
        kWidth);
    const auto labels = labels_of(picture);
    EXPECT_EQ(labels.size(), 7u) << "five marks and two ceilings: three are one line";
    expect_apart(labels);
    EXPECT_TRUE(std::any_of(picture.texts.begin(), picture.texts.end(), [](const auto& text) {
      return text.text == "fp16 102 GFLOP/s, bf16 101 GFLOP/s, tf32 100 GFLOP/s";
    }));
  }
}

TEST(Roofline, PicturesShowMarksWithTheirNumbers) {
  const std::string svg = inline_svg(sample_roofline());
  EXPECT_THAT(svg, HasSubstr("<title>mm, head: 20.0 ms, 50.0 GFLOP/s, 1.00 GB/s, 50.0 FLOP/B</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>copy, f32: 1.00 ms, 0 FLOP/s, 8.00 GB/s</title>"));
  EXPECT_THAT(svg, AllOf(HasSubstr(">fp32 100 GFLOP/s</text>"), HasSubstr(">memory 10.0 GB/s</text>")));
  const std::string latex = pgfplots_picture(sample_roofline());
  EXPECT_THAT(latex, AllOf(HasSubstr("{fp32 100 GFLOP/"), HasSubstr("{mm,"), HasSubstr("fill=kymob")));
}

TEST(Roofline, ClassesBeyondThePaletteShareItsLastColour) {
  Rows marks;
  for (int i = 0; i < 20; ++i)
    marks.push_back(row("op " + std::to_string(i) + ",", "class " + std::to_string(i), 1, 1, 1, ""));
  const RooflinePicture picture = roofline_picture(roofline_of(marks, {}), kWidth);
  EXPECT_EQ(circle_of(picture, "op 19,").colour, kPalette.size() - 1);
}

TEST(Roofline, CsvHasTheNumbers) {
  Document document;
  document.sections.push_back({"H", 1, {sample_roofline()}});
  const auto files = render_csv(document);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "charts/roofline.csv");
  EXPECT_THAT(files[0].content,
              HasSubstr("label,detail,class,flops,bytes,ms\r\n\"mm, head\",,matmul,1000000000,20000000,20\r\n"));
  EXPECT_EQ(files[1].content, "label,kind,rate\r\nfp32,compute,100000000000\r\nmemory,memory,10000000000\r\n");
}

TEST(Roofline, RejectsUnknownKindsOfRoofs) {
  EXPECT_THAT([] { roofline_of({row("a", "a", 1, 1, 1, "")}, {row("fp32", "matmul", 1)}); },
              ThrowsMessage<UsageError>("roofs.sql: column 'kind' must contain 'memory' or 'compute', not 'matmul'"));
  EXPECT_THAT([] { blocks_of({row("", "a", "a", 1, 1, 1)}, {}, "prat"); },
              ThrowsMessage<UsageError>(HasSubstr("roofline.sql: the query has no column 'prat'")));
}

}  // namespace
}  // namespace kymo::report
