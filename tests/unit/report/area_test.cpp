// SPDX-License-Identifier: Apache-2.0
#include "report/area.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "report/build.hpp"
#include "sample_document.hpp"

namespace kymo::report {
namespace {

using ::testing::AllOf;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::row;
using testing::sample_memory;
using ::testing::ThrowsMessage;

ChartSpec spec_with(const std::string& x, const std::string& y = "", const std::string& series = "") {
  ChartSpec spec;
  spec.kind = ChartKind::kArea;
  spec.query.name = "area.sql";
  spec.query.caption = "C.";
  spec.x = x;
  spec.y = y;
  spec.series = series;
  return spec;
}

TEST(BuildArea, ColumnsAreSeriesAndNullHoldsTheValueBefore) {
  const Chart chart = sample_memory();
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.series[0].name, "weights");
  EXPECT_TRUE(chart.y.bytes);
  EXPECT_EQ(chart.x.title, "time");
  const AreaLayers layers = area_layers(chart);
  EXPECT_THAT(layers.x, ElementsAre(5000, 6000, 8000, 9000));
  EXPECT_THAT(layers.values[0], ElementsAre(4 << 20, 4 << 20, 4 << 20, 4 << 20));
  EXPECT_THAT(layers.values[1], ElementsAre(0, 2 << 20, 6 << 20, 0));
  EXPECT_EQ(chart.memory.blocks.size(), 3u);
  EXPECT_FALSE(chart.memory.blocks[0].end_ns.has_value());
}

TEST(BuildArea, RowsOfOneValueEachAreSeriesByName) {
  const Result result{{"t", "bytes", "what"},
                      {row(3, 30, "b"), row(1, 10, "a"), row(2, 20, "b"), row(4, nullptr, "a")}};
  const Chart chart = *build_area(spec_with("t", "bytes", "what"), {result});
  const AreaLayers layers = area_layers(chart);
  EXPECT_EQ(chart.series[0].name, "b");
  EXPECT_THAT(layers.x, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(layers.values[0], ElementsAre(0, 20, 30, 30));
  EXPECT_THAT(layers.values[1], ElementsAre(10, 10, 10, 10));
}

TEST(BuildArea, SeveralRowsAtOnePositionKeepTheirOrder) {
  const AreaLayers layers =
      area_layers(*build_area(spec_with("t"), {Result{{"t", "a"}, {row(1, 5), row(1, 9), row(1, 2), row(-4, 1)}}}));
  EXPECT_THAT(layers.x, ElementsAre(-4, 1, 1, 1));
  EXPECT_THAT(layers.values[0], ElementsAre(1, 5, 9, 2));
}

TEST(BuildArea, NamesTheColumnThatIsMissing) {
  const Result points{{"t", "a"}, {row(1, 2)}};
  EXPECT_THAT([&] { build_area(spec_with("time"), {points}); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("area.sql"), HasSubstr("'time'"))));
  EXPECT_THAT([&] { build_area(spec_with("t", "b"), {points}); }, ThrowsMessage<UsageError>(HasSubstr("'b'")));
  EXPECT_THAT([&] { build_area(spec_with("t"), {Result{{"t"}, {row(1)}}}); },
              ThrowsMessage<UsageError>(HasSubstr("no column besides 't'")));
  ChartSpec spec = spec_with("t");
  spec.bands = spec.blocks = QueryFile{};
  spec.bands->name = "bands.sql";
  spec.blocks->name = "blocks.sql";
  const Result other{{"x"}, {row(1)}};
  EXPECT_THAT([&] { build_area(spec, {points, &other}); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("bands.sql"), HasSubstr("'label'"))));
  EXPECT_THAT([&] { build_area(spec, {points, nullptr, &other}); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("blocks.sql"), HasSubstr("'start_ns'"))));
}

TEST(BuildArea, CountsWhatItLeavesOut) {
  ChartSpec spec = spec_with("t");
  spec.bands = spec.blocks = QueryFile{};
  const Result bands{{"label", "start", "end"}, {row("a", 1, nullptr), row("b", 3, 2), row("c", 1, 2)}};
  const Result blocks{{"start_ns", "end_ns", "bytes", "label", "category"},
                      {row(1, 0, 8, "a", "b"), row(1, 2, -8, "a", "b"), row(1, 1, 8, "a", "b")}};
  const Chart chart =
      *build_area(spec, {Result{{"t", "a"}, {row(nullptr, 1), row("x", 1), row(1, 1)}}, &bands, &blocks});
  EXPECT_THAT(chart.caption,
              AllOf(HasSubstr("2 rows without a position"), HasSubstr("2 bands"), HasSubstr("2 blocks")));
  EXPECT_EQ(chart.bands.size(), 1u);
  EXPECT_EQ(chart.memory.blocks.size(), 1u);
}

TEST(BuildArea, SegmentsHaveAddressesAndBlocksMayBePending) {
  ChartSpec spec = spec_with("t");
  spec.blocks = spec.segments = QueryFile{};
  spec.segments->name = "segments.sql";
  spec.segments->empty = "No segments.";
  const Result points{{"t", "a"}, {row(1, 1)}};
  const Result blocks{{"start_ns", "end_ns", "bytes", "label", "category", "address", "reusable_ns"},
                      {row(1, 4, 8, "a", "b", -4096, 9), row(2, nullptr, 8, "a", "b", nullptr, nullptr)}};
  const Result segments{{"start_ns", "end_ns", "address", "bytes", "stream"},
                        {row(1, nullptr, -4096, 512, 7), row(1, 3, nullptr, 512, 7), row(3, 1, 4096, 512, 7)}};
  const auto chart_of = [&](const Result& rows) {
    return *build_area(spec, {points, nullptr, &blocks, nullptr, nullptr, nullptr, &rows});
  };
  const Chart chart = chart_of(segments);
  ASSERT_EQ(chart.memory.segments.size(), 1u);
  EXPECT_EQ(chart.memory.segments[0].address, 0xffff'ffff'ffff'f000u);
  EXPECT_EQ(chart.memory.segments[0].stream, 7);
  EXPECT_EQ(chart.memory.without_segments, "");
  EXPECT_THAT(chart.caption, HasSubstr("2 segments without"));
  EXPECT_EQ(chart.memory.blocks[0].address, 0xffff'ffff'ffff'f000u);
  EXPECT_EQ(chart.memory.blocks[0].pending_ns, 5);
  EXPECT_FALSE(chart.memory.blocks[1].address.has_value());
  EXPECT_EQ(chart_of({segments.columns, {}}).memory.without_segments, "No segments.");
  EXPECT_THAT([&] { chart_of({{"start_ns"}, {row(1)}}); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("segments.sql"), HasSubstr("'end_ns'"))));
}

TEST(BuildArea, NothingToDraw) {
  EXPECT_FALSE(build_area(spec_with("t"), {Result{{"t", "a"}, {}}}).has_value());
  EXPECT_FALSE(build_area(spec_with("t"), {Result{{"t", "a"}, {row(1, nullptr), row(2, "OOM")}}}).has_value());
}

TEST(AreaPicture, IsInTheUnitsOfItsAxes) {
  const AreaPicture picture = area_picture(sample_memory());
  EXPECT_EQ(picture.chart.x.unit, "µs");
  EXPECT_EQ(picture.chart.y.unit, "MiB");
  EXPECT_DOUBLE_EQ(picture.chart.series[1].points.back().x, 4);
  EXPECT_DOUBLE_EQ(*picture.chart.series[1].points[2].y, 6);
  EXPECT_DOUBLE_EQ(picture.chart.bands[1].start, 3);
  EXPECT_TRUE(picture.notes.empty());
}

TEST(AreaPicture, HoldsEachValueUntilTheNext) {
  const Chart picture =
      area_picture(*build_area(spec_with("t"), {Result{{"t", "a"}, {row(0, 1), row(2, 3), row(5, 0)}}})).chart;
  EXPECT_THAT(area_corners(picture, 0),
              ElementsAre(Pair(0, 1), Pair(2, 1), Pair(2, 3), Pair(5, 3), Pair(5, 0), Pair(5, 0), Pair(0, 0)));
}

TEST(AreaPicture, SeriesStandOnThoseBefore) {
  const Chart picture =
      area_picture(*build_area(spec_with("t"), {Result{{"t", "a", "b"}, {row(0, 1, 10), row(1, 1, 10)}}})).chart;
  EXPECT_THAT(area_corners(picture, 1), ElementsAre(Pair(0, 11), Pair(1, 11), Pair(1, 1), Pair(0, 1)));
}

TEST(AreaPicture, OneRowHasAWidth) {
  Chart chart = *build_area(spec_with("t"), {Result{{"t", "a"}, {row(7, 3)}}});
  EXPECT_DOUBLE_EQ(area_picture(chart).chart.series[0].points.back().x, 8);
  chart.bands = {{"b", 0, 20}};
  EXPECT_DOUBLE_EQ(area_picture(chart).chart.series[0].points.back().x, 20);
}

TEST(AreaPicture, KeepsEveryPeakWhenItThinsOut) {
  Result result{{"t", "a"}, {}};
  for (int i = 0; i < 20'000; ++i) result.rows.push_back(row(i, i == 12'345 ? 1000 : i % 3));
  const AreaPicture picture = area_picture(*build_area(spec_with("t"), {result}));
  EXPECT_LE(picture.chart.series[0].points.size(), 360u);
  double highest = 0;
  for (const Point& point : picture.chart.series[0].points) highest = std::max(highest, *point.y);
  EXPECT_DOUBLE_EQ(highest, 1000);
  EXPECT_THAT(picture.notes, ElementsAre(HasSubstr("highest sum in each of 360 equal intervals")));
}

TEST(AreaPicture, ThinningOutHoldsValuesOverStretchesWithoutRows) {
  const AreaLayers layers{{0, 1, 2, 100, 101}, {{5, 9, 4, 1, 0}}};
  const AreaLayers thin = max_of_intervals(layers, 4);
  ASSERT_EQ(thin.x.size(), 4u);
  EXPECT_THAT(thin.values[0], ElementsAre(9, 4, 4, 0));
}

TEST(AreaPicture, NamesTheBandsThatAreTooNarrow) {
  Chart chart = sample_memory();
  chart.bands = {{"wide enough", 5'000, 8'000}, {"thin one", 8'000, 8'010}, {"outside", 20'000, 30'000}};
  const AreaPicture picture = area_picture(chart);
  ASSERT_EQ(picture.chart.bands.size(), 2u);
  EXPECT_EQ(picture.chart.bands[0].label, "wide enough");
  EXPECT_EQ(picture.chart.bands[1].label, "");
  EXPECT_THAT(picture.notes, ElementsAre("Bands without a label, from left to right: thin one."));
}

TEST(Units, SuitTheSize) {
  EXPECT_EQ(time_unit(0).name, "ns");
  EXPECT_EQ(time_unit(1e3).name, "µs");
  EXPECT_EQ(time_unit(9e8).name, "ms");
  EXPECT_EQ(time_unit(1e13).name, "s");
  EXPECT_EQ(byte_unit(-5).name, "B");
  EXPECT_EQ(byte_unit(0x1p20).name, "MiB");
  EXPECT_EQ(byte_unit(1e30).name, "TiB");
}

}  // namespace
}  // namespace kymo::report
