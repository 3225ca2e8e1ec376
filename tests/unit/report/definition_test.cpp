// SPDX-License-Identifier: Apache-2.0
#include "report/definition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <tuple>

#include "base/error.hpp"
#include "base/file.hpp"
#include "sample_database.hpp"

namespace kymo::report {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* kQuery = R"(-- SPDX-License-Identifier: Apache-2.0
-- Words without a key are a plain comment.
-- caption: Times: of all.
-- column mean_ms: title="mean", unit="ms", format="measured", plus_minus="std_ms"
-- column share: digits=1, once=true
-- note: One.
-- empty: Nothing.
SELECT 1 -- caption: not in the header
)";

std::string with(const std::string& line) { return line + "\n-- caption: c\n-- empty: e\nSELECT 1"; }

TEST(ParseQuery, ReadsTheHeader) {
  const QueryFile query = parse_query(kQuery, "t.sql");
  EXPECT_EQ(query.caption, "Times: of all.");
  EXPECT_EQ(query.empty, "Nothing.");
  EXPECT_EQ(query.notes, std::vector<std::string>{"One."});
  EXPECT_EQ(*query.columns.at("mean_ms").title, "mean");
  EXPECT_EQ(query.columns.at("mean_ms").plus_minus, "std_ms");
  EXPECT_EQ(query.columns.at("mean_ms").format.kind, NumberFormat::Kind::kMeasured);
  EXPECT_EQ(query.columns.at("share").format.kind, NumberFormat::Kind::kFixed);
  EXPECT_EQ(query.columns.at("share").format.digits, 1);
  EXPECT_TRUE(query.columns.at("share").once);
  EXPECT_FALSE(query.columns.at("mean_ms").once);
}

TEST(ParseQuery, RejectsWhatItDoesNotKnow) {
  const auto parse = [](const std::string& text) { return [text] { parse_query(text, "t.sql"); }; };
  EXPECT_THAT(parse(with("-- captoin: x")),
              ThrowsMessage<UsageError>(AllOf(HasSubstr("t.sql:1"), HasSubstr("'captoin'"), HasSubstr("'caption'"))));
  EXPECT_THAT(parse(with("-- column a: titel=\"x\"")),
              ThrowsMessage<UsageError>(AllOf(HasSubstr("t.sql:1"), HasSubstr("'titel'"))));
  EXPECT_THAT(parse(with("-- column a: format=\"pretty\"")), ThrowsMessage<UsageError>(HasSubstr("'pretty'")));
  EXPECT_THAT(parse(with("-- column a: unit=\"tokens\", prefix=\"auto\"")),
              ThrowsMessage<UsageError>(AllOf(HasSubstr("needs a unit of s, B"), HasSubstr("not 'tokens'"))));
  EXPECT_THAT(parse(with("-- column a: prefix=\"auto\"")), ThrowsMessage<UsageError>(HasSubstr("there is none")));
  EXPECT_THAT(parse(with("-- column a: digits=\"2\"")), ThrowsMessage<UsageError>(HasSubstr("whole number")));
  EXPECT_THAT(parse(with("-- column a: title=")), ThrowsMessage<UsageError>(HasSubstr("t.sql:1")));
  EXPECT_THAT(parse(with("-- caption: twice")), ThrowsMessage<UsageError>(HasSubstr("twice")));
  EXPECT_THAT(parse("-- caption: c\nSELECT 1"), ThrowsMessage<UsageError>(HasSubstr("'empty'")));
  EXPECT_THAT(parse("SELECT 1"), ThrowsMessage<UsageError>(HasSubstr("'caption'")));
}

TEST(ParseQuery, JoinsIndentedLinesToTheEntryBeforeThem) {
  const QueryFile query = parse_query(R"(-- caption: Times:
--   of all,
--      and of each.
-- column mean_ms: title="mean
--   time",
--   unit="ms"
-- note: One.
-- note: Two, with a word and a colon on the next line,
--   note: still two.
-- A plain comment.
-- empty:
--   Nothing.
SELECT 1
)",
                                      "t.sql");
  EXPECT_EQ(query.caption, "Times: of all, and of each.");
  EXPECT_EQ(*query.columns.at("mean_ms").title, "mean time");
  EXPECT_EQ(query.columns.at("mean_ms").unit, "ms");
  EXPECT_EQ(query.notes,
            (std::vector<std::string>{"One.", "Two, with a word and a colon on the next line, note: still two."}));
  EXPECT_EQ(query.empty, "Nothing.");
}

TEST(ParseQuery, RejectsAContinuationOfNothing) {
  const auto parse = [](const std::string& text) { return [text] { parse_query(text, "t.sql"); }; };
  const auto rejected_at = [](const std::string& position) {
    return ThrowsMessage<UsageError>(AllOf(HasSubstr(position), HasSubstr("must follow the entry that it continues")));
  };
  EXPECT_THAT(parse(with("--   of all")), rejected_at("t.sql:1"));
  EXPECT_THAT(parse(with("-- A plain comment.\n--   of all")), rejected_at("t.sql:2"));
  EXPECT_THAT(parse(with("-- note: n\n\n--   of all")), rejected_at("t.sql:3"));
  EXPECT_THAT(parse(with("-- note: n\n-- A plain comment.\n--   of all")), rejected_at("t.sql:3"));
}

TEST(ParseQuery, NamesTheFirstLineOfAContinuedEntryThatIsWrong) {
  EXPECT_THAT(([] { parse_query(with("-- note: n\n-- column a:\n--   digits=\"2\""), "t.sql"); }),
              ThrowsMessage<UsageError>(AllOf(HasSubstr("t.sql:2"), HasSubstr("whole number"))));
}

class DefinitionFolder : public ::testing::Test {
 protected:
  void write(const std::string& toml) {
    write_file(folder_.path() / "report.toml", toml);
    write_file(folder_.path() / "t.sql", kQuery);
  }
  std::string error_of(const std::string& toml) {
    write(toml);
    try {
      read_definition(folder_.path());
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  testing::TemporaryFolder folder_;
};

TEST_F(DefinitionFolder, ReadsAWholeReport) {
  write(R"(title = "T"
[[banner]]
prose = "careful"
[[section]]
heading = "H"
prose = "{{v.n}}"
[[section.value]]
name = "v"
sql = "SELECT 1 AS n"
columns.n = { unit = "ms" }
[[section.table]]
file = "t.sql"
[[section.chart]]
file = "t.sql"
kind = "bar"
x = "a"
y = "b"
y_scale = "log"
)");
  const ReportDefinition report = read_definition(folder_.path());
  ASSERT_EQ(report.sections.size(), 1u);
  EXPECT_EQ(report.sections[0].prose.values[0].columns.at("n").unit, "ms");
  EXPECT_EQ(report.sections[0].tables[0].caption, "Times: of all.");
  EXPECT_EQ(report.sections[0].charts[0].kind, ChartKind::kBar);
  EXPECT_EQ(report.sections[0].charts[0].y_axis.scale, Scale::kLog);
}

TEST_F(DefinitionFolder, SharesTheContentOfSectionsAndAnAppendix) {
  const std::string report = "title = 'T'\nappendix = '../own/appendix.toml'\n[[section]]\nheading = 'A'\nlevel = 2\n";
  const fs::path folder = folder_.path() / "own";
  fs::create_directory(folder);
  write_file(folder / "report.toml", report + "content = '../shared/a.toml'");
  write_file(folder / "appendix.toml", "[[section]]\nheading = 'B'\nprose = 'b'");
  fs::create_directory(folder_.path() / "shared");
  write_file(folder_.path() / "shared" / "t.sql", kQuery);
  write_file(folder_.path() / "shared" / "a.toml",
             "question = 'Why?'\nformula = 'f'\nprose = 'p'\nexplanation = 'e'\nsource = 's'\ndetail = "
             "['B']\n[[table]]\nfile = 't.sql'");
  const ReportDefinition read = read_definition(folder);
  ASSERT_EQ(read.sections.size(), 2u);
  const SectionSpec& shared = read.sections[0];
  EXPECT_EQ(std::tie(shared.heading, shared.level, shared.question, shared.prose.text, shared.explanation),
            std::make_tuple("A", 2, "Why?", "p", "e"));
  EXPECT_EQ(shared.formula, "f");
  EXPECT_EQ(shared.tables[0].caption, "Times: of all.");
  EXPECT_FALSE(shared.in_appendix);
  EXPECT_TRUE(read.sections[1].in_appendix);
}

TEST_F(DefinitionFolder, ErrorsOfSharedSectionsAreNamed) {
  const std::string section = "title = 'x'\n[[section]]\nheading = 'H'\n";
  write_file(folder_.path() / "a.toml", "heading = 'twice'");
  EXPECT_THAT(error_of(section + "content = 'a.toml'"), AllOf(HasSubstr("a.toml"), HasSubstr("'heading'")));
  EXPECT_THAT(error_of(section + "content = 'a.toml'\nprose = 'p'"), HasSubstr("'heading'"));
  write_file(folder_.path() / "a.toml", "prose = 'a'");
  EXPECT_THAT(error_of(section + "content = 'a.toml'\nprose = 'p'"), HasSubstr("unknown key 'prose'"));
  for (const char* name : {"/etc/a.toml", "../../a.toml", "a.sql"})
    EXPECT_THAT(error_of(section + "content = '" + name + "'"), HasSubstr("NAME.toml or ../REPORT/NAME.toml"));
  EXPECT_THAT(error_of(section + "explanation = 'e'"), HasSubstr("'explanation' and 'source' need each other"));
  EXPECT_THAT(error_of(section + "detail = ['h']"),
              AllOf(HasSubstr("key 'detail' names the section 'h'"), HasSubstr("'H'")));
  EXPECT_THAT(error_of("appendix = 'a.toml'\n" + section),
              AllOf(HasSubstr("a.toml"), HasSubstr("at least one [[section]]")));
}

TEST_F(DefinitionFolder, ErrorsNameFileAndKey) {
  EXPECT_THAT(error_of("titel = 'x'"), AllOf(HasSubstr("report.toml"), HasSubstr("'title'")));
  EXPECT_THAT(error_of("title = 'x'\ncolour = 'red'\n[[section]]\nheading = 'H'"), HasSubstr("unknown key 'colour'"));
  EXPECT_THAT(error_of("title = 'x'\n[[section]]\nheading = 'H'\ntabel = 1"),
              AllOf(HasSubstr("section"), HasSubstr("'tabel'"), HasSubstr("'table'")));
  EXPECT_THAT(error_of("title = 'x'\n[[section]]\nheading = 7"), HasSubstr("'heading' must be a string"));
  EXPECT_THAT(error_of("title = 'x'\n[[section]]\nheading = 'H'\nlevel = 3"), HasSubstr("'level'"));
  EXPECT_THAT(error_of("title = 'x'\n[[section]]\nheading = 'H'\n[[section.table]]\nfile = '../t.sql'"),
              HasSubstr("'../t.sql'"));
  EXPECT_THAT(
      error_of(
          "title = 'x'\n[[section]]\nheading = 'H'\n[[section.chart]]\nfile = 't.sql'\nkind = 'pie'\nx='a'\ny='b'"),
      HasSubstr("'pie'"));
  EXPECT_THAT(error_of("title = 'x'"), HasSubstr("[[section]]"));
}

TEST_F(DefinitionFolder, ReadsTimelinesAndAreas) {
  write_file(folder_.path() / "side.sql", "-- SPDX-License-Identifier: Apache-2.0\n-- empty: None.\nSELECT 1");
  write(R"(title = "T"
[[section]]
heading = "H"
[[section.chart]]
file = "t.sql"
kind = "timeline"
split = "run"
counters = "side.sql"
[[section.chart]]
file = "t.sql"
kind = "area"
x = "time_ns"
bands = "side.sql"
blocks = "side.sql"
segments = "side.sql"
events = "side.sql"
counters = "side.sql"
[[section.chart]]
file = "t.sql"
kind = "area"
x = "time_ns"
x_unit = "ns"
y = "bytes"
series = "what"
)");
  const auto charts = read_definition(folder_.path()).sections[0].charts;
  EXPECT_EQ(charts[0].kind, ChartKind::kTimeline);
  EXPECT_EQ(charts[0].split, "run");
  EXPECT_TRUE(charts[1].x_axis.nanoseconds);
  EXPECT_THAT(charts[1].bands->sql, HasSubstr("SELECT 1"));
  EXPECT_TRUE(charts[1].blocks.has_value());
  EXPECT_EQ(charts[1].segments->empty, "None.");
  EXPECT_TRUE(charts[1].events.has_value());
  EXPECT_TRUE(charts[1].counters.has_value());
  EXPECT_TRUE(charts[0].counters.has_value());
  EXPECT_FALSE(charts[2].events.has_value());
  EXPECT_FALSE(charts[2].x_axis.nanoseconds);
  EXPECT_EQ(charts[2].series, "what");
}

TEST_F(DefinitionFolder, StacksBarsThatHaveNeitherErrorsNorALogarithm) {
  const std::string chart =
      "title = 'x'\n[[section]]\nheading = 'H'\n[[section.chart]]\nfile = 't.sql'\nx = 'a'\ny = 'b'\nstacked = true\n";
  write(chart + "kind = 'bar'");
  EXPECT_TRUE(read_definition(folder_.path()).sections[0].charts[0].stacked);
  EXPECT_THAT(error_of(chart + "kind = 'line'"), HasSubstr("unknown key 'stacked'"));
  EXPECT_THAT(error_of(chart + "kind = 'bar'\nerror = 'e'"), AllOf(HasSubstr("'stacked'"), HasSubstr("'error'")));
  EXPECT_THAT(error_of(chart + "kind = 'bar'\ny_scale = 'log'"), HasSubstr("'y_scale'"));
}

TEST_F(DefinitionFolder, ALineChartHasAReferenceLineWithATitle) {
  const std::string chart = "title = 'x'\n[[section]]\nheading = 'H'\n[[section.chart]]\nfile = 't.sql'\n";
  const std::string line = chart + "kind = 'line'\nx = 'a'\ny = 'b'\n";
  write(line + "reference_line = 'peak'\nreference_line_title = 'peak of the device'");
  const ChartSpec spec = read_definition(folder_.path()).sections[0].charts[0];
  EXPECT_EQ(spec.reference_line, "peak");
  EXPECT_EQ(spec.reference_line_title, "peak of the device");
  EXPECT_THAT(error_of(line + "reference_line = 'peak'"),
              AllOf(HasSubstr("section 'H', chart: key 'reference_line' needs key 'reference_line_title'"),
                    Not(HasSubstr("\n"))));
  EXPECT_THAT(error_of(line + "reference_line_title = 'peak'"),
              HasSubstr("section 'H', chart: key 'reference_line_title' needs key 'reference_line'"));
  EXPECT_THAT(error_of(line + "reference_line = 7\nreference_line_title = 'peak'"),
              HasSubstr("'reference_line' must be a string"));
  for (const char* other : {"kind = 'bar'\nx = 'a'\ny = 'b'\n", "kind = 'area'\nx = 'a'\n", "kind = 'timeline'\n"}) {
    EXPECT_THAT(error_of(chart + other + "reference_line = 'peak'\nreference_line_title = 'peak'"),
                HasSubstr("section 'H', chart: keys 'reference_line' and 'reference_line_title' are only allowed for "
                          "charts of kind 'line'"));
  }
}

TEST_F(DefinitionFolder, OnlyATableHasAPivot) {
  write_file(folder_.path() / "p.sql", "-- pivot a: values=[\"b\"]\n-- caption: c\n-- empty: e\nSELECT 1");
  EXPECT_THAT(
      error_of("title = 'T'\n[[section]]\nheading = 'H'\n[[section.chart]]\nfile = 'p.sql'\nkind = 'timeline'\n"),
      HasSubstr("'pivot' is only allowed for tables"));
}

TEST_F(DefinitionFolder, SomeKindsHavePanels) {
  const std::string chart =
      "title = 'x'\n[[section]]\nheading = 'H'\n[[section.chart]]\nfile = 't.sql'\npanel = 'strategy'\n";
  write(chart + "kind = 'timeline'");
  EXPECT_EQ(read_definition(folder_.path()).sections[0].charts[0].panel, "strategy");
  write(chart + "kind = 'line'\nx = 'a'\ny = 'b'");
  EXPECT_EQ(read_definition(folder_.path()).sections[0].charts[0].panel, "strategy");
  EXPECT_THAT(error_of(chart + "kind = 'area'\nx = 'a'\ny = 'b'"), HasSubstr("unknown key 'panel'"));
}

TEST_F(DefinitionFolder, ARooflineHasRoofs) {
  const std::string chart =
      "title = 'x'\n[[section]]\nheading = 'H'\n[[section.chart]]\nfile = 't.sql'\nkind = 'roofline'\n";
  write_file(folder_.path() / "roofs.sql", "-- empty: e\nSELECT 1");
  write(chart + "roofs = 'roofs.sql'\nsplit = 'part'");
  const ChartSpec spec = read_definition(folder_.path()).sections[0].charts[0];
  EXPECT_EQ(spec.kind, ChartKind::kRoofline);
  EXPECT_EQ(spec.roofs->empty, "e");
  EXPECT_EQ(spec.split, "part");
  EXPECT_THAT(error_of(chart), HasSubstr("key 'roofs' is missing"));
  EXPECT_THAT(error_of(chart + "roofs = 'roofs.sql'\nx = 'a'"), HasSubstr("unknown key 'x'"));
  write_file(folder_.path() / "roofs.sql", "SELECT 1");
  EXPECT_THAT(error_of(chart + "roofs = 'roofs.sql'"), HasSubstr("roofs.sql: the header comment lacks 'empty'"));
}

TEST_F(DefinitionFolder, ErrorsOfTimelinesAndAreasAreNamed) {
  const std::string chart = "title = 'x'\n[[section]]\nheading = 'H'\n[[section.chart]]\nfile = 't.sql'\n";
  EXPECT_THAT(error_of(chart + "kind = 'pie'"), AllOf(HasSubstr("line, bar, area, timeline"), HasSubstr("'pie'")));
  EXPECT_THAT(error_of(chart + "kind = 'timeline'\nx = 'a'"), HasSubstr("unknown key 'x'"));
  EXPECT_THAT(error_of(chart + "kind = 'area'"), HasSubstr("key 'x' is missing"));
  EXPECT_THAT(error_of(chart + "kind = 'area'\nx = 'a'\nseries = 'b'"), HasSubstr("'y'"));
  EXPECT_THAT(error_of(chart + "kind = 'area'\nx = 'a'\ny_scale = 'log'"), HasSubstr("unknown key 'y_scale'"));
  EXPECT_THAT(error_of(chart + "kind = 'area'\nx = 'a_ns'\nsegments = 't.sql'"),
              AllOf(HasSubstr("'segments'"), HasSubstr("'blocks'")));
  EXPECT_THAT(error_of(chart + "kind = 'area'\nx = 'a'\nblocks = 't.sql'"),
              AllOf(HasSubstr("'blocks'"), HasSubstr("_ns")));
  EXPECT_THAT(error_of(chart + "kind = 'area'\nx = 'a'\nbands = '../t.sql'"),
              AllOf(HasSubstr("'bands'"), HasSubstr("'../t.sql'")));
}

TEST(OwnReports, AskEveryQuestionOfTheirEditionInOrder) {
  for (const auto& [name, last] : {std::pair{"cs336", 36}, {"cs336-2026", 47}}) {
    int number = 0;
    for (const SectionSpec& section : read_definition(std::string(KYMO_SOURCE_DIR) + "/reports/" + name).sections) {
      if (!section.heading.starts_with("Question ")) continue;
      EXPECT_THAT(section.heading, ::testing::StartsWith("Question " + std::to_string(++number) + ". ")) << name;
      EXPECT_TRUE(section.question.ends_with('?')) << section.heading;
      EXPECT_FALSE(section.prose.text.empty() && section.formula.empty() && section.explanation.empty())
          << section.heading;
    }
    EXPECT_EQ(number, last) << name;
  }
}

// A number typed into prose could not be traced to a row.
TEST(OwnReports, ProseHoldsNoFiguresOfItsOwn) {
  for (const char* name : {"quick", "cs336", "cs336-2026", "lab"}) {
    const ReportDefinition report = read_definition(std::string(KYMO_SOURCE_DIR) + "/reports/" + name);
    std::vector<std::string> texts{report.summary.text};
    for (const SectionSpec& section : report.sections) texts.push_back(section.prose.text);
    for (const ProseSpec& banner : report.banners) texts.push_back(banner.text);
    for (const std::string& text : texts) {
      std::string outside;
      int depth = 0;
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.compare(i, 2, "{{") == 0) ++depth;
        if (depth == 0) outside += text[i];
        if (text.compare(i, 2, "}}") == 0) --depth;
      }
      // Names, and thresholds and formulas that define what is shown, are not measured.
      for (const std::string admitted :
           {"step 0", "Step 0", "step 1", "rank 0", "stage 1", "zero1", "cs336", "at least 2 % of a step",
            "> 25 % of the mean", "more than 10 % slower", "bf16", "fp16", "fp32", "H100", "4 × length²",
            "2.5 times as many in backward"}) {
        for (std::size_t at = outside.find(admitted); at != std::string::npos; at = outside.find(admitted))
          outside.erase(at, admitted.size());
      }
      EXPECT_EQ(outside.find_first_of("0123456789"), std::string::npos) << name << ": " << outside;
    }
  }
}

}  // namespace
}  // namespace kymo::report
