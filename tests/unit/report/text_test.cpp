// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "report/build.hpp"
#include "report/number.hpp"
#include "report/output.hpp"
#include "report/renderer.hpp"

namespace kymo::report {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A document with a table, a list, or both, of the same query without a database.
Document queried(const std::string& query, const std::optional<ListSpec>& list, bool table = true) {
  const QueryFile file = parse_query("-- caption: c\n-- empty: e\n" + query, "q.sql");
  ReportDefinition definition;
  SectionSpec& section = definition.sections.emplace_back();
  if (table) section.tables.push_back(file);
  if (table) section.tables.front().caption.clear();
  if (list) section.lists.push_back(*list);
  if (list) section.lists.front().query = file;
  const store::ResultsDatabase database;
  return build_document(definition, [&](const std::string& sql) { return database.query(sql); }, "");
}

std::string queried_text(const std::string& query, const std::optional<ListSpec>& list = {}, bool table = true) {
  return text_of(queried(query, list, table), TextStyle{});
}

TEST(Text, FormatsCells) {
  EXPECT_EQ(
      queried_text(
          "-- column t: title=\"{what} step\", unit=\"ns\", prefix=\"auto\", format=\"significant\", digits=3,\n"
          "--   plus_minus=\"half\", relative=true\n"
          "-- column low: unit=\"ms\", prefix=\"auto\", format=\"significant\", digits=3, to=\"high\"\n"
          "-- column rate: unit=\"{unit}\", prefix=\"auto\", format=\"general\", digits=3\n"
          "-- column n: unit=\"1\", prefix=\"auto\", format=\"general\"\n"
          "-- column share: format=\"percent\"\n"
          "SELECT 'mean' AS what, 2e6 AS t, 0.05 AS half, 1.0 AS low, 2500.0 AS high, 3e9 AS rate, 'B/s' AS unit, "
          "1.5e12 AS n, 0.1234 AS share, NULL AS none"),
      "      mean step                low    rate      n   share  none\n"
      "---------------  -----------------  ------  -----  ------  ----\n"
      "2.00 ms ± 5.0 %  1.00 ms to 2.50 s  3 GB/s  1.5 T  12.3 %\n");
}

TEST(Text, MarksAnIntervalThatSaysNothing) {
  EXPECT_EQ(half_width_text(0.0004), "± <0.1 %");
  EXPECT_EQ(half_width_text(0.0994), "± 9.9 %");
  EXPECT_EQ(half_width_text(0.5), "± 50 %");
  EXPECT_EQ(half_width_text(2.11), "± 211 % (not reproducible)");
}

TEST(Text, ShowsAListBelowItsTable) {
  const ListSpec list{{}, "{{a}}{{#b}}: {{b}}{{/b}}", "begin {{a}}", "end", "", 2, "and {} more"};
  EXPECT_EQ(queried_text("WITH v(a, b) AS (VALUES ('x*', 1), ('y', NULL), ('z', 3)) SELECT * FROM v", list),
            "a   b\n--  -\nx*  1\ny\nz   3\nbegin x*\nx*: 1\ny\nand 1 more\nend\n");
}

TEST(Text, JoinsTheItemsOfALine) {
  const ListSpec list{{}, "{{a}}", "all: ", " (end)", ", ", 0, ""};
  EXPECT_EQ(queried_text("WITH v(a) AS (VALUES ('x'), (NULL), ('z')) SELECT * FROM v", list, false),
            "all: x, z (end)\n");
  EXPECT_EQ(queried_text("SELECT 1 AS a WHERE 0", list, false), "") << "nothing without rows";
  const ListSpec wrong{{}, "{{b}}", "", "", "", 0, ""};
  EXPECT_THAT([&] { queried_text("SELECT 1 AS a", wrong, false); }, ThrowsMessage<UsageError>(HasSubstr("'b'")));
}

TEST(Text, SpreadsObjects) {
  EXPECT_EQ(queried_text("-- column o: spread=true\n"
                         "-- column t: spread=true, unit=\"ns\", prefix=\"auto\", format=\"significant\", digits=3\n"
                         "SELECT json_object('n', 2.0, 's', 'x') AS o, json_object('a', 1500) AS t UNION ALL "
                         "SELECT json_object('n', 16), json_object('b', 2)"),
            "  n  s        a        b\n---  -  -------  -------\n2.0  x  1.50 µs\n 16              2.00 ns\n");
}

TEST(Text, CannotControlATerminal) {
  const std::string query = "SELECT 'a' || char(27) || '[2J' AS a";
  const ListSpec list{{}, "{{a}}", "", "", "", 0, ""};
  EXPECT_EQ(queried_text(query, list).find('\x1b'), std::string::npos);
}

TEST(Text, BecomesMarkdownWithoutTitlesThatAreEmpty) {
  const ListSpec list{{}, "line {{a}}", "", "", "", 0, ""};
  EXPECT_EQ(text_of(queried("SELECT 1 AS a", list), TextStyle{.markdown = true}),
            "| a |\n| ---: |\n| 1 |\n\n- line 1\n");
}

TEST(Text, OfAReportHasHeadingsAndCaptions) {
  Document document;
  document.title = "Title";
  document.sections.push_back({"Section", 1, {Paragraph{{{Style::kStrong, "one"}}}}});
  document.sections.push_back({"Other", 1, {Notice{Notice::Kind::kEmpty, {Paragraph{{{Style::kPlain, "none"}}}}}}});
  document.provenance = "from here";
  EXPECT_EQ(render_text(document).front().content,
            "Title\n=====\n\nSection\n-------\n\none\n\nOther\n-----\n\nnone\n\nfrom here\n");
}

TEST(Output, HasTheRowsOfItsQueriesAsJson) {
  const Output output("peaks_line", {{"peaks", R"([{"kind": "copy", "dtype": "", "rate": 21e9, "unit": "B/s",
    "rate_low": 20e9, "rate_high": 21.5e9, "started_at": "2026-01-02T03:04:05Z", "run_id": 1, "warnings": ""}])"}});
  EXPECT_EQ(text_of(output.document(), TextStyle{}), "copy 21.0 GB/s (2026-01-02)\n");
  EXPECT_TRUE(output.json().empty()) << "no query has a name";
}

}  // namespace
}  // namespace kymo::report
