// SPDX-License-Identifier: Apache-2.0
#include "terminal/print.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace kymo::terminal {
namespace {

using Cell = store::ResultsDatabase::Cell;

Cell text(const std::string& value) { return {.type = Cell::Type::kText, .integer = 0, .real = 0, .text = value}; }
Cell integer(std::int64_t value) { return {.type = Cell::Type::kInteger, .integer = value, .real = 0, .text = ""}; }
Cell real(double value) { return {.type = Cell::Type::kReal, .integer = 0, .real = value, .text = ""}; }

std::string printed(RowFormat format, const store::ResultsDatabase::Table& table) {
  std::string text;
  RowPrinter printer(format, [&](const std::string& part) { text += part; });
  printer.columns(table.columns);
  for (const auto& row : table.rows) EXPECT_TRUE(printer.row(row));
  printer.finish();
  EXPECT_TRUE(printer.is_complete());
  return text;
}

TEST(Print, PrintsRowsOfAQuery) {
  const store::ResultsDatabase::Table table{{"name", "n", "x"},
                                            {{text("a"), integer(5), real(0.5)}, {text("b"), Cell{}, real(10)}}};
  EXPECT_EQ(printed(RowFormat::kText, table), "name  n    x\n----  -  ---\na     5  0.5\nb         10\n");
}

TEST(Print, ListsTheValuesOfARowThatIsTooWide) {
  std::string shown;
  RowPrinter printer(RowFormat::kText, [&](const std::string& part) { shown += part; }, 30);
  printer.columns({"name", "µ"});
  printer.row({text("one two three four five six seven"), integer(1)});
  printer.row({text("a"), integer(2)});
  printer.finish();
  EXPECT_EQ(shown, "name  one two three four five\n      six seven\nµ     1\n\nname  a\nµ     2\n");
}

TEST(Print, RoundsNumbersExceptInRawText) {
  const store::ResultsDatabase::Table table{
      {"x"}, {{real(0.50650659145271)}, {real(1234567.8)}, {real(1.0 / 3e5)}, {integer(123456789)}}};
  EXPECT_EQ(printed(RowFormat::kText, table),
            "          x\n-----------\n   0.506507\n    1234568\n3.33333e-06\n  123456789\n");
  EXPECT_NE(printed(RowFormat::kRawText, table).find("0.50650659145271\n"), std::string::npos);
  EXPECT_NE(printed(RowFormat::kCsv, table).find("0.50650659145271\r\n"), std::string::npos);
  EXPECT_NE(printed(RowFormat::kJson, table).find("0.50650659145271\n"), std::string::npos);
}

TEST(Print, WritesJson) {
  const store::ResultsDatabase::Table table{{"name", "n", "x"}, {{text("a\"<"), integer(5), Cell{}}}};
  EXPECT_EQ(printed(RowFormat::kJson, table),
            "[\n  {\n    \"name\": \"a\\\"<\",\n    \"n\": 5,\n    \"x\": null\n  }\n]\n");
  EXPECT_EQ(printed(RowFormat::kJson, {{"name"}, {}}), "[]\n");
}

TEST(Print, SeparatesObjectsOfJson) {
  EXPECT_EQ(printed(RowFormat::kJson, {{"n"}, {{integer(1)}, {integer(2)}}}),
            "[\n  {\n    \"n\": 1\n  },\n  {\n    \"n\": 2\n  }\n]\n");
}

TEST(Print, LimitsTheRowsOfText) {
  std::string text;
  RowPrinter printer(RowFormat::kText, [&](const std::string& part) { text += part; });
  printer.columns({"n"});
  for (std::size_t i = 0; i < RowPrinter::kMaxTextRows; ++i) ASSERT_TRUE(printer.row({integer(1)}));
  EXPECT_FALSE(printer.row({integer(1)}));
  printer.finish();
  EXPECT_FALSE(printer.is_complete());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<std::ptrdiff_t>(RowPrinter::kMaxTextRows + 2));
}

TEST(Print, WritesCsvThatNoSpreadsheetRuns) {
  const store::ResultsDatabase::Table table{{"name", "n"},
                                            {{text("a,\"b\""), integer(-5)}, {text("=cmd()"), real(0.1)}}};
  EXPECT_EQ(printed(RowFormat::kCsv, table), "name,n\r\n\"a,\"\"b\"\"\",-5\r\n'=cmd(),0.1\r\n");
}

}  // namespace
}  // namespace kymo::terminal
