// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/build.hpp"
#include "report/renderer.hpp"

namespace kymo::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

QueryFile query_of(const std::string& name, bool with_rows) {
  return parse_query(
      "-- caption: Caption of " + name + ".\n-- empty: Nothing in " + name + ".\nSELECT " + (with_rows ? "1" : "0"),
      name + ".sql");
}

/// Text of a report whose queries have one row if they end in 1.
std::string text_of(const std::vector<SectionSpec>& sections) {
  ReportDefinition definition;
  definition.title = "T";
  definition.sections = sections;
  const auto query = [](const std::string& sql) {
    store::ResultsDatabase::Table table;
    table.columns = {"n"};
    if (sql.ends_with('1')) table.rows.push_back({store::ResultsDatabase::Cell{}});
    return table;
  };
  return render_markdown(build_document(definition, query, ""))[0].content;
}

SectionSpec section(const std::string& heading, int level, bool in_appendix, const std::vector<QueryFile>& tables) {
  SectionSpec spec;
  spec.heading = heading;
  spec.level = level;
  spec.prose.text = "Prose of " + heading + ".";
  spec.tables = tables;
  spec.in_appendix = in_appendix;
  return spec;
}

TEST(Appendix, ListsItsPartsWithoutDataAtTheEnd) {
  const std::string text =
      text_of({section("Full", 1, true, {query_of("a", true), query_of("b", false)}),
               section("Empty", 1, true, {query_of("c", false), query_of("c", false)}), section("Words", 1, true, {})});
  EXPECT_THAT(text, HasSubstr("Caption of a."));
  EXPECT_THAT(text, Not(HasSubstr("## Empty")));
  EXPECT_THAT(text, Not(HasSubstr("Prose of Empty")));
  EXPECT_THAT(text, HasSubstr("Prose of Words.\n"));
  EXPECT_THAT(text, HasSubstr("## Parts without data\n\n- **Full**: Nothing in b.\n- **Empty**: Nothing in c.\n"));
}

TEST(Appendix, KeepsTheHeadingOfAnEmptySectionWhoseSubsectionHasData) {
  const std::string text =
      text_of({section("Parent", 1, true, {query_of("a", false)}), section("First", 2, true, {query_of("b", false)}),
               section("Second", 2, true, {query_of("c", true)}), section("Other", 1, true, {query_of("d", false)})});
  EXPECT_THAT(text, HasSubstr("## Parent\n\n### Second\n"));
  EXPECT_THAT(text, Not(HasSubstr("### First")));
  EXPECT_THAT(text, Not(HasSubstr("## Other")));
}

TEST(Appendix, SectionsOfTheReportKeepTheirReasons) {
  const std::string text =
      text_of({section("One", 2, false, {query_of("a", false)}), section("Two", 2, false, {query_of("a", false)})});
  EXPECT_THAT(text, HasSubstr("### One\n\nProse of One.\n\n> [!NOTE]\n> Nothing in a.\n\n### Two\n\nProse of Two.\n\n> "
                              "[!NOTE]\n> Nothing in a.\n"));
  EXPECT_THAT(text, Not(HasSubstr("Parts without data")));
}

TEST(Questions, PrintTheirQuestionExplanationAndDetail) {
  SectionSpec asked = section("1. Asked", 2, false, {query_of("a", true)});
  asked.question = "Why <so>?";
  asked.formula = "2 · x";
  asked.explanation = "Because.\n";
  asked.source = "A Book, 2009";
  asked.detail = {"Full", "Empty"};
  const std::string text = text_of(
      {asked, section("Full", 1, true, {query_of("b", true)}), section("Empty", 1, true, {query_of("c", false)})});
  EXPECT_THAT(text, HasSubstr("*Why &lt;so&gt;?*\n\n**Formula.** 2 · x\n\nProse of 1. Asked.\n\n"
                              "**Explanation** (not measured; A Book, 2009). Because.\n\n"));
  EXPECT_THAT(text, HasSubstr("Detail: *Full*.\n"));
}

}  // namespace
}  // namespace kymo::report
