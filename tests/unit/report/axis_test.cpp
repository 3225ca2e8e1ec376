// SPDX-License-Identifier: Apache-2.0
#include "report/axis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sample_document.hpp"

namespace kymo::report {
namespace {

using ::testing::ElementsAre;

TEST(LinearTicks, AreRoundAndEnclose) {
  EXPECT_THAT(linear_ticks(0, 100, 5), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(linear_ticks(0, 0.9, 5), ElementsAre(0, 0.2, 0.4, 0.6, 0.8, 1.0));
  EXPECT_THAT(linear_ticks(-3, 7, 5), ElementsAre(-4, -2, 0, 2, 4, 6, 8));
}

TEST(LinearTicks, SurviveAnEmptyRange) {
  EXPECT_GE(linear_ticks(5, 5, 5).size(), 2u);
  EXPECT_GE(linear_ticks(0, 0, 5).size(), 2u);
}

TEST(LogTicks, AreDecadesOrFiner) {
  EXPECT_THAT(log_ticks(3, 40), ElementsAre(2, 5, 10, 20, 50));
  EXPECT_THAT(log_ticks(0.001, 100), ElementsAre(0.001, 0.01, 0.1, 1, 10, 100));
  EXPECT_GE(log_ticks(7, 7).size(), 2u);
  EXPECT_LE(log_ticks(1e-300, 1e300).size(), 400u);
}

TEST(ValueAxis, BarsStartAtZero) {
  const ScaledAxis axis = value_axis(testing::sample_chart(ChartKind::kBar));
  EXPECT_EQ(axis.low, 0);
  EXPECT_GE(axis.high, 42) << "the error bar fits";
}

TEST(ValueAxis, ErrorBarsDoNotStretchItBelowZero) {
  Chart chart = testing::sample_chart(ChartKind::kBar);
  chart.series[0].points[0].error = 500;
  EXPECT_EQ(value_axis(chart).low, 0);
}

TEST(ValueAxis, LogFallsBackWhereAValueIsNotPositive) {
  Chart chart = testing::sample_chart(ChartKind::kLine);
  chart.y.scale = Scale::kLog;
  EXPECT_EQ(value_axis(chart).scale, Scale::kLog);
  chart.series[0].points[0].y = 0;
  EXPECT_EQ(value_axis(chart).scale, Scale::kLinear);
}

TEST(ValueAxis, AutoIsLogarithmicOverManyDecades) {
  Chart chart = testing::sample_chart(ChartKind::kBar);
  chart.y.scale = Scale::kAuto;
  EXPECT_EQ(value_axis(chart).scale, Scale::kLinear);
  chart.series[0].points[0].y = 0.001;
  EXPECT_EQ(value_axis(chart).scale, Scale::kLog);
}

Chart line_of(const std::vector<std::pair<double, double>>& points) {
  Chart chart;
  chart.kind = ChartKind::kLine;
  chart.series = {{"a", {}}};
  for (const auto& [x, y] : points) chart.series[0].points.push_back({x, y, {}, ""});
  return chart;
}

TEST(ValueAxis, LinesThatHardlyDifferAreNotDrawnFromZero) {
  const ScaledAxis narrow = value_axis(line_of({{1, 100}, {2, 103}, {3, 97.5}}));
  EXPECT_GE(narrow.low, 90);
  EXPECT_LE(narrow.low, 97.5);
  EXPECT_EQ(value_axis(line_of({{1, 100}, {2, 60}})).low, 0);
  Chart bars = line_of({{0, 100}, {1, 103}});
  bars.kind = ChartKind::kBar;
  EXPECT_EQ(value_axis(bars).low, 0) << "the length of a bar is its value";
}

TEST(ValueAxis, EndsShortlyAboveThePeakItIsComparedWith) {
  for (const Scale scale : {Scale::kLinear, Scale::kLog}) {
    Chart chart = line_of({{1, 3}, {2, 900}});
    chart.y.scale = scale;
    chart.reference_line = ReferenceLine{"peak", 1050};
    const ScaledAxis axis = value_axis(chart);
    EXPECT_LE(axis.high, 1050 * 1.2);
    EXPECT_GT(axis.high, 1050);
    EXPECT_LE(axis.ticks.back().value, axis.high);
    EXPECT_GE(axis.ticks.size(), 3u);
  }
}

TEST(ValueAxis, NoPointsGiveAnAxisStill) { EXPECT_GE(value_axis(Chart{}).ticks.size(), 2u); }

TEST(PointAxis, FewPointsAreTheTicks) {
  const ScaledAxis axis = point_axis(testing::sample_chart(ChartKind::kLine));
  ASSERT_EQ(axis.ticks.size(), 3u);
  EXPECT_EQ(axis.ticks[1].label, "256");
  EXPECT_NEAR(axis.position(256), 0.5, 1e-9);
}

TEST(PointAxis, CrowdedPointsAreNot) {
  Chart chart = testing::sample_chart(ChartKind::kLine);
  chart.x.scale = Scale::kLinear;
  chart.series = {{"a", {{0, 1.0, {}, ""}, {1, 1.0, {}, ""}, {1000, 1.0, {}, ""}}}};
  for (const Tick& tick : point_axis(chart).ticks) EXPECT_NE(tick.value, 1);
}

TEST(PointAxis, PowersOfTwoHaveTicksAtPowersOfTwo) {
  std::vector<std::pair<double, double>> points;
  for (double x = 128; x <= 4.0 * 1024 * 1024; x *= 2) points.emplace_back(x, 1);
  Chart chart = line_of(points);
  chart.x.scale = Scale::kAuto;
  const ScaledAxis axis = point_axis(chart);
  EXPECT_EQ(axis.scale, Scale::kLog);
  ASSERT_GE(axis.ticks.size(), 4u);
  EXPECT_LE(axis.ticks.size(), 9u);
  EXPECT_EQ(axis.ticks[0].value, 128);
  for (const Tick& tick : axis.ticks) EXPECT_EQ(std::exp2(std::round(std::log2(tick.value))), tick.value);
}

TEST(StateLabels, OneForAGroupThatIsWhollyMissing) {
  Chart chart = testing::sample_chart(ChartKind::kBar);
  EXPECT_EQ(state_labels(chart).size(), 1u);
  chart.series[0].points[1] = {1, std::nullopt, std::nullopt, "OOM"};
  ASSERT_EQ(state_labels(chart).size(), 1u);
  EXPECT_EQ(state_labels(chart)[0].offset, 0);
  chart.series[0].points[1].state = "failed";
  EXPECT_EQ(state_labels(chart).size(), 2u);
}

}  // namespace
}  // namespace kymo::report
