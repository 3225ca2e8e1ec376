// SPDX-License-Identifier: Apache-2.0
#include "report/number.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kymo::report {
namespace {

Cell real(double value, std::optional<double> uncertainty = std::nullopt) {
  Cell cell;
  cell.kind = Cell::Kind::kReal;
  cell.real = value;
  cell.uncertainty = uncertainty;
  return cell;
}

Cell integer(std::int64_t value) {
  Cell cell;
  cell.kind = Cell::Kind::kInteger;
  cell.integer = value;
  return cell;
}

Column column(NumberFormat::Kind kind, int digits = 2) {
  Column each;
  each.format = {kind, digits};
  return each;
}

std::string pm(const std::string& value, const std::string& uncertainty) {
  return value + "\u00A0±\u00A0" + uncertainty;
}

using Kind = NumberFormat::Kind;

TEST(Number, MeasuredShowsTwoDigitsOfTheUncertainty) {
  EXPECT_EQ(plain_text(column(Kind::kMeasured), real(20.613, 0.0471)), pm("20.613", "0.047"));
  EXPECT_EQ(plain_text(column(Kind::kMeasured), real(596.83, 12.7)), pm("597", "13"));
  EXPECT_EQ(plain_text(column(Kind::kMeasured), real(0.00240912, 0.0000561)), pm("0.002409", "0.000056"));
}

TEST(Number, MeasuredKeepsThreeToSixDigitsOfTheValue) {
  EXPECT_EQ(plain_text(column(Kind::kMeasured), real(20.613, 85.3)), pm("20.6", "85.3"))
      << "an uncertainty above the value";
  EXPECT_EQ(plain_text(column(Kind::kMeasured), real(20.6131234, 0.0000012)), pm("20.6131", "0.0000"));
  EXPECT_EQ(plain_text(column(Kind::kMeasured), real(20.613, 0.0)), pm("20.61", "0.00"));
  EXPECT_EQ(plain_text(column(Kind::kMeasured), real(20.6134)), "20.61") << "one sample has no uncertainty";
}

TEST(Number, AutomaticPrefixSuitsEachCell) {
  Column time = column(Kind::kMeasured);
  time.unit = "ms";
  time.format.auto_prefix = true;
  EXPECT_EQ(plain_text(time, real(0.0229, 0.005)), pm("22.9", "5.0") + "\u00A0µs");
  EXPECT_EQ(plain_text(time, real(3125, 1414)), pm("3.12", "1.41") + "\u00A0s");
  EXPECT_EQ(plain_text(time, real(0.00000001)), "0.01000\u00A0ns") << "no prefix below ns";
  EXPECT_EQ(plain_text(time, real(5e6)), "5000\u00A0s") << "none above s";
  EXPECT_EQ(plain_text(time, real(0)), "0\u00A0s");
  EXPECT_EQ(plain_text(time, integer(2)), "2.000\u00A0ms");
  EXPECT_EQ(plain_text(time, real(0.99999)), "1.000\u00A0ms") << "the prefix is that of the rounded value";
  EXPECT_EQ(column_heading(time), "");
  Column rate = column(Kind::kSignificant, 3);
  rate.title = "throughput";
  rate.unit = "GFLOP/s";
  rate.format.auto_prefix = true;
  EXPECT_EQ(plain_text(rate, real(718123)), "718\u00A0TFLOP/s");
  EXPECT_EQ(plain_text(rate, real(0.00121)), "1.21\u00A0MFLOP/s");
  EXPECT_EQ(plain_text(rate, real(1e-12)), "0.00100\u00A0FLOP/s") << "counts have no prefix below one";
  EXPECT_EQ(column_heading(rate), "throughput");
}

TEST(Number, BaseUnitsOfTimesBytesAndOperations) {
  EXPECT_EQ(base_unit("µs")->name, "s");
  EXPECT_DOUBLE_EQ(base_unit("µs")->factor, 1e-6);
  EXPECT_EQ(base_unit("GB/s")->name, "B/s");
  EXPECT_DOUBLE_EQ(base_unit("FLOP")->factor, 1);
  EXPECT_FALSE(base_unit("tokens"));
  EXPECT_FALSE(base_unit("%"));
  EXPECT_FALSE(base_unit("MiB"));
  EXPECT_FALSE(base_unit(""));
}

TEST(Number, FixedAndSignificant) {
  EXPECT_EQ(plain_text(column(Kind::kFixed, 1), real(99.96)), "100.0");
  EXPECT_EQ(plain_text(column(Kind::kFixed, 2), real(-0.001)), "0.00");
  EXPECT_EQ(significant_text(9.9996, 4), "10.00");
  EXPECT_EQ(significant_text(123456, 3), "123456") << "digits before the point are never cut";
  EXPECT_EQ(significant_text(1.5e-9, 2), "1.5e-09");
  EXPECT_EQ(significant_text(0, 4), "0");
}

TEST(Number, IntegersAndGroups) {
  EXPECT_EQ(plain_text(column(Kind::kAuto), integer(1024)), "1024");
  EXPECT_EQ(plain_text(column(Kind::kAuto), integer(16777216)), "16\u202F777\u202F216");
  EXPECT_EQ(plain_text(column(Kind::kPlain), integer(16777216)), "16777216");
  EXPECT_EQ(grouped("-12345.678", ","), "-12,345.678");
}

TEST(Number, BytesHaveTheirOwnUnit) {
  EXPECT_EQ(plain_text(column(Kind::kBytes), integer(1610612736)), "1.50\u00A0GiB");
}

TEST(Number, WhatIsNoNumberIsWritten) {
  Cell state;
  state.kind = Cell::Kind::kState;
  state.text = "OOM";
  EXPECT_EQ(plain_text(column(Kind::kMeasured), state), "OOM");
  EXPECT_EQ(plain_text(column(Kind::kMeasured), Cell{}), "–");
  EXPECT_EQ(plain_text(column(Kind::kAuto), real(std::numeric_limits<double>::infinity())), "inf");
  EXPECT_EQ(plain_text(column(Kind::kFixed), real(std::nan(""))), "nan");
}

TEST(Number, FractionsOfAColumnAreBroughtToOneLength) {
  Table table;
  table.columns = {column(Kind::kFixed, 2)};
  for (const double value : {1.25, 30.5}) table.rows.push_back({real(value)});
  EXPECT_EQ(fractions_of(table, 0).value, 3u);
  table.columns = {column(Kind::kFixed, 9)};
  EXPECT_EQ(fractions_of(table, 0).value, 4u) << "the longest would tear the rest apart";
  EXPECT_EQ(missing_fraction("12", 3), ".00");
  EXPECT_EQ(missing_fraction("12.5", 3), "0");
  EXPECT_EQ(missing_fraction("12.125", 3), "");
  EXPECT_EQ(missing_fraction("1.2e-09", 3), "");
}

}  // namespace
}  // namespace kymo::report
