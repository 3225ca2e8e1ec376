// SPDX-License-Identifier: Apache-2.0
#include "report/pivot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "report/build.hpp"
#include "report/renderer.hpp"
#include "sample_document.hpp"

namespace kymo::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::row;
using ::testing::ThrowsMessage;

QueryFile query_with(const std::string& header) {
  return parse_query(header + "\n-- caption: Times.\n-- empty: None.\nSELECT 1", "times.sql");
}

const std::string kPivot = "-- pivot kernel: values=[\"ms\"], order=\"position\"";

Result times(const std::vector<std::vector<ResultCell>>& rows) { return {{"seq", "kernel", "position", "ms"}, rows}; }

/// The table of a report with this query and these rows.
Table table_of(const QueryFile& file, const Result& result) {
  ReportDefinition definition;
  definition.sections.push_back({"H", 1, {}, {file}, {}});
  const Document document = build_document(definition, [&result](const std::string&) { return result; }, "");
  return std::get<Table>(document.sections[0].blocks.at(0));
}

std::vector<std::string> titles(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.title);
  return names;
}

TEST(Pivot, TurnsValuesIntoColumnsInTheirOrder) {
  // The first row lacks `naive`, which precedes the other kernels.
  const Table table = table_of(
      query_with(kPivot + "\n-- column ms: unit=\"ms\", format=\"fixed\", digits=1"),
      times({row(64, "flash", 1, 0.5), row(64, "cudnn", 2, 0.75), row(128, "naive", 0, 9.0), row(128, "flash", 1, 2)}));
  EXPECT_THAT(titles(table), ElementsAre("seq", "naive", "flash", "cudnn"));
  EXPECT_EQ(table.columns[1].unit, "ms");
  EXPECT_EQ(table.columns[1].format.kind, NumberFormat::Kind::kFixed);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][1].kind, Cell::Kind::kAbsent);
  EXPECT_EQ(table.rows[0][3].real, 0.75);
  EXPECT_EQ(table.rows[1][2].integer, 2);
}

TEST(Pivot, KeepsTheOrderOfTheRowsWithoutAnOrderColumn) {
  const Table table = table_of(query_with("-- pivot kernel: values=[\"ms\"]\n-- column position: hidden=true"),
                               times({row(64, "b", 0, 1), row(64, "a", 0, 2)}));
  EXPECT_THAT(titles(table), ElementsAre("seq", "b", "a"));
}

TEST(Pivot, ShowsTheStatusOfARunInPlaceOfANumber) {
  const Table table = table_of(query_with(kPivot), times({row(64, "flash", 1, 0.5), row(128, "flash", 1, "OOM")}));
  EXPECT_EQ(table.rows[1][1].kind, Cell::Kind::kState);
  EXPECT_EQ(table.rows[1][1].text, "OOM");
}

TEST(Pivot, SpreadsSeveralValuesWithTheirUncertainty) {
  const QueryFile file = query_with(
      "-- pivot kernel: values=[\"ms\", \"bytes\"]\n-- column ms: plus_minus=\"std\", format=\"measured\"\n"
      "-- column bytes: title=\"memory of {}\", format=\"bytes\"");
  const Table table = table_of(
      file, {{"bytes", "kernel", "ms", "std", "seq"}, {row(10, "a", 2.0, 0.1, 64), row(nullptr, "b", 3.0, 0.2, 64)}});
  EXPECT_THAT(titles(table), ElementsAre("memory of a", "a", "b", "seq")) << "`memory of b` has no cell";
  EXPECT_EQ(table.columns[0].format.kind, NumberFormat::Kind::kBytes);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0][2].uncertainty, 0.2);
}

TEST(Pivot, KeepsRowsApartThatDifferInAHiddenColumn) {
  const QueryFile file = query_with(kPivot + "\n-- column batch: hidden=true");
  const Result result{{"seq", "batch", "kernel", "position", "ms"},
                      {row(64, 1, "a", 0, 1), row(64, 2, "a", 0, 2), row(64, 2, nullptr, 0, 3)}};
  const Table table = table_of(file, result);
  EXPECT_THAT(titles(table), ElementsAre("seq", "a"));
  ASSERT_EQ(table.rows.size(), 2u) << "a row without a heading has no cell";
  EXPECT_EQ(table.rows[1][1].integer, 2);
}

TEST(Pivot, SplitsATableThatIsTooWide) {
  std::vector<std::vector<ResultCell>> rows;
  for (int i = 0; i < 13; ++i) rows.push_back(row(64, "k" + std::to_string(i), i, i));
  const auto parts = pivot(query_with(kPivot), times(rows));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].file.caption, "Times. Part 1 of 2.");
  EXPECT_EQ(parts[0].result.columns.size(), 13u);
  EXPECT_THAT(parts[1].result.columns, ElementsAre("seq", "ms: k12"));
  EXPECT_EQ(parts[1].result.rows.size(), 1u);
}

TEST(Pivot, RejectsRowsThatItCannotPlace) {
  const auto pivoted = [](const std::string& header, const Result& result) {
    return [=] { pivot(query_with(header), result); };
  };
  EXPECT_THAT(pivoted(kPivot, times({row(64, "a", 0, 1), row(64, "a", 0, 2)})),
              ThrowsMessage<UsageError>(AllOf(HasSubstr("times.sql: two rows for '64' and 'a'"), HasSubstr("hidden"))));
  EXPECT_THAT(pivoted(kPivot, times({row(64, "a", "first", 1)})),
              ThrowsMessage<UsageError>(AllOf(HasSubstr("'position'"), HasSubstr("numbers"), HasSubstr("'first'"))));
  EXPECT_THAT(pivoted("-- pivot kernle: values=[\"ms\"]", times({row(64, "a", 0, 1)})),
              ThrowsMessage<UsageError>(AllOf(HasSubstr("'kernle'"), HasSubstr("'kernel'"))));
  EXPECT_THAT(pivoted("-- pivot kernel: values=[\"s\"]", times({row(64, "a", 0, 1)})),
              ThrowsMessage<UsageError>(HasSubstr("no column 's'")));
}

TEST(Pivot, RejectsHeadersThatItCannotShow) {
  const auto parse = [](const std::string& header) { return [=] { query_with(header); }; };
  EXPECT_THAT(parse("-- pivot: values=[\"ms\"]"),
              ThrowsMessage<UsageError>(AllOf(HasSubstr("times.sql:1"), HasSubstr("-- pivot NAME: values="))));
  EXPECT_THAT(parse("-- pivot kernel: order=\"position\""),
              ThrowsMessage<UsageError>(HasSubstr("'values' is missing")));
  EXPECT_THAT(parse("-- pivot kernel: values=\"ms\""), ThrowsMessage<UsageError>(HasSubstr("an array of strings")));
  EXPECT_THAT(parse("-- pivot kernel: values=[\"ms\"], sort=\"x\""), ThrowsMessage<UsageError>(HasSubstr("'sort'")));
  EXPECT_THAT(parse(kPivot + "\n" + kPivot), ThrowsMessage<UsageError>(HasSubstr("twice")));
  EXPECT_THAT(parse(kPivot + "\n-- column ms: title=\"time\""),
              ThrowsMessage<UsageError>(AllOf(HasSubstr("'ms'"), HasSubstr("{}"), HasSubstr("'time'"))));
  EXPECT_THAT(parse(kPivot + "\n-- column ms: once=true"), ThrowsMessage<UsageError>(HasSubstr("'once'")));
  EXPECT_THAT(parse(kPivot + "\n-- column kernel: title=\"kernel\""),
              ThrowsMessage<UsageError>(AllOf(HasSubstr("'kernel'"), HasSubstr("remove its entry"))));
}

// A PDF is the Typst format, compiled.
TEST(Pivot, ComesOutInAllTextFormats) {
  Document document;
  document.sections.push_back({"H",
                               1,
                               {table_of(query_with(kPivot + "\n-- column ms: unit=\"ms\""),
                                         times({row(64, "a_b", 0, 1.5), row(64, "c", 1, "OOM")}))}});
  std::string all;
  for (const auto& render : {render_markdown, render_latex, render_typst, render_html, render_csv})
    for (const OutputFile& file : render(document)) all += file.content;
  EXPECT_THAT(all, HasSubstr("| seq | a_b (ms) | c (ms) |"));
  EXPECT_THAT(all, HasSubstr("{\\shortstack[r]{a\\_\\allowbreak{}b\\\\(ms)}}"));
  EXPECT_THAT(all, HasSubstr("[a\\_b \\ (ms)]"));
  EXPECT_THAT(all, HasSubstr("a_b<span class=\"unit\">ms</span>"));
  EXPECT_THAT(all, HasSubstr("seq,a_b (ms),c (ms)\r\n64,1.5,OOM"));
}

}  // namespace
}  // namespace kymo::report
