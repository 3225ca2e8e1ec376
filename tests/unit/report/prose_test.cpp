// SPDX-License-Identifier: Apache-2.0
#include "report/prose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "sample_database.hpp"

namespace kymo::report {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Result = store::ResultsDatabase::Table;
using ResultCell = store::ResultsDatabase::Cell;

ResultCell real_cell(double value) { return {ResultCell::Type::kReal, 0, value, {}}; }
ResultCell text_cell(const std::string& text) { return {ResultCell::Type::kText, 0, 0, text}; }

QueryFunction answers(Result result) {
  return [result](const std::string&) { return result; };
}

ProseSpec spec(const std::string& text) {
  ValueSpec value{"v", "SELECT …", {}};
  value.columns["ms"].unit = "ms";
  value.columns["ms"].format = {NumberFormat::Kind::kFixed, 1};
  return {text, {value}};
}

const Result kOneRow{{"ms", "name", "none"}, {{real_cell(12.34), text_cell("x*y`z"), ResultCell{}}}};
const Result kNoRow{{"ms", "name", "none"}, {}};

Spans first_spans(const Prose& prose) { return std::get<Paragraph>(prose.at(0)).spans; }

TEST(ParseProse, KnowsParagraphsListsAndStyles) {
  const Prose prose = parse_prose("one *two* `three`\nstill\n\n- a\n\n- **b**\nend");
  ASSERT_EQ(prose.size(), 3u);
  EXPECT_EQ(first_spans(prose), (Spans{{Style::kPlain, "one "},
                                       {Style::kEmphasis, "two"},
                                       {Style::kPlain, " "},
                                       {Style::kCode, "three"},
                                       {Style::kPlain, " still"}}));
  EXPECT_EQ(std::get<List>(prose[1]).items.size(), 2u) << "a blank line does not end a list";
  EXPECT_EQ(std::get<List>(prose[1]).items[1], (Spans{{Style::kStrong, "b"}}));
}

TEST(ParseProse, ProtectedTextComesBackAsItWas) {
  for (const std::string& name : testing::hostile_names()) {
    std::string text;
    const Prose prose = parse_prose("`" + protect_markup(name) + "`");
    for (const Span& span : first_spans(prose)) text += span.text;
    std::string expected;
    for (const Span& span : first_spans(parse_prose("`" + protect_markup(name) + "`")))
      expected += span.style == Style::kCode ? span.text : "";
    EXPECT_EQ(text, expected) << "nothing of the name leaves the code span";
  }
}

TEST(RenderProse, FormatsValues) {
  EXPECT_EQ(first_spans(render_prose(spec("It takes {{v.ms}}."), answers(kOneRow), "here")),
            (Spans{{Style::kPlain, "It takes 12.3\u00A0ms."}}));
}

TEST(RenderProse, ValuesCannotMarkUp) {
  EXPECT_EQ(first_spans(render_prose(spec("{{v.name}}"), answers(kOneRow), "here")), (Spans{{Style::kPlain, "x*y`z"}}));
}

TEST(RenderProse, WhatIsMissingIsFalse) {
  EXPECT_TRUE(render_prose(spec("{{#v}}x{{/v}}{{#v.ms}}y{{/v.ms}}"), answers(kNoRow), "here").empty());
  EXPECT_TRUE(render_prose(spec("{{#v.none}}x{{/v.none}}"), answers(kOneRow), "here").empty());
  EXPECT_FALSE(render_prose(spec("{{^v}}none{{/v}}"), answers(kNoRow), "here").empty());
}

TEST(RenderProse, RejectsUnknownNames) {
  EXPECT_THAT([] { render_prose(spec("{{v.mss}}"), answers(kOneRow), "report.toml: section 'A'"); },
              ThrowsMessage<UsageError>(
                  ::testing::AllOf(HasSubstr("report.toml: section 'A'"), HasSubstr("'v.mss'"), HasSubstr("'v.ms'"))));
}

TEST(RenderProse, RejectsUnescapedTags) {
  EXPECT_THROW(render_prose(spec("{{{v.name}}}"), answers(kOneRow), "here"), UsageError);
  EXPECT_THROW(render_prose(spec("{{&v.name}}"), answers(kOneRow), "here"), UsageError);
  EXPECT_THROW(render_prose(spec("{{>v}}"), answers(kOneRow), "here"), UsageError);
  EXPECT_THROW(render_prose(spec("{{v.name"), answers(kOneRow), "here"), UsageError);
  EXPECT_THROW(render_prose(spec("{{#v}}never closed"), answers(kOneRow), "here"), UsageError);
}

TEST(RenderProse, RejectsSeveralRowsAndUnknownColumns) {
  Result two = kOneRow;
  two.rows.push_back(two.rows[0]);
  EXPECT_THAT([&] { render_prose(spec("{{v.ms}}"), answers(two), "here"); },
              ThrowsMessage<UsageError>(HasSubstr("2 rows")));
  EXPECT_THAT([] { render_prose(spec(""), answers({{"other"}, {}}), "here"); },
              ThrowsMessage<UsageError>(HasSubstr("no column 'ms'")));
}

}  // namespace
}  // namespace kymo::report
