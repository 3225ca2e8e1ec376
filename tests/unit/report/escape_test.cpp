// SPDX-License-Identifier: Apache-2.0
#include "report/escape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/unicode.hpp"
#include "sample_database.hpp"

namespace kymo::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Unicode, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(printable("a\xC3(b"), "a\xEF\xBF\xBD(b");
  EXPECT_EQ(printable("\xFF"), "\xEF\xBF\xBD");
  EXPECT_EQ(printable("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "overlong";
  EXPECT_THAT(printable("\xED\xA0\x80"), Not(HasSubstr("\xED\xA0\x80"))) << "surrogate";
  EXPECT_EQ(printable("\xF0\x9F\x9A\x80 é"), "\xF0\x9F\x9A\x80 é");
}

TEST(Unicode, ReplacesControlsAndTextThatReorders) {
  EXPECT_EQ(printable("a\nb\tc\r"), "a b c ");
  EXPECT_EQ(printable_lines("a\nb"), "a\nb");
  EXPECT_EQ(printable("\x1b[31m"), "\xEF\xBF\xBD[31m");
  EXPECT_EQ(printable("\xE2\x80\xAEx"), "\xEF\xBF\xBDx");
}

TEST(Unicode, ShortensByCodePoints) {
  EXPECT_EQ(shortened("ääää", 4), "ääää");
  EXPECT_EQ(shortened("äääää", 4), "äää…");
}

TEST(Unicode, FileStemsAreTame) {
  EXPECT_EQ(file_stem_from("../../etc/Passwd"), "etc-passwd");
  EXPECT_EQ(file_stem_from("\n|"), "item");
  EXPECT_LE(file_stem_from(std::string(500, 'x')).size(), 60u);
}

TEST(EscapeMarkdown, MakesMarkupLiteral) {
  EXPECT_EQ(escape_markdown("a|b"), "a\\|b");
  EXPECT_EQ(escape_markdown("<script>"), "&lt;script&gt;");
  EXPECT_EQ(escape_markdown("**b** [l](u)"), "\\*\\*b\\*\\* \\[l\\](u)");
  EXPECT_EQ(escape_markdown("two\nlines"), "two lines");
  EXPECT_EQ(escape_markdown("# heading"), "\\# heading");
  EXPECT_EQ(escape_markdown("1. item"), "1\\. item");
}

TEST(EscapeMarkdown, LeavesOrdinaryNamesReadable) {
  EXPECT_EQ(escape_markdown("transformer_lm"), "transformer_lm");
  EXPECT_EQ(escape_markdown("2.7B, n=1024"), "2.7B, n=1024");
}

TEST(MarkdownCode, FencesOutgrowBackticks) {
  EXPECT_EQ(markdown_code("saxpy", false), "`saxpy`");
  EXPECT_EQ(markdown_code("a``b", false), "```a``b```");
  EXPECT_EQ(markdown_code("`x", false), "`` `x ``");
  EXPECT_EQ(markdown_code("a|b", true), "`a\\|b`");
}

TEST(EscapeLatex, MakesCommandsLiteral) {
  EXPECT_EQ(escape_latex("\\input{/etc}"), "\\textbackslash{}input\\{/\\allowbreak{}etc\\}");
  EXPECT_EQ(escape_latex("50 % & #1 $x$ a_b^c~d"),
            "50 \\% \\& \\#1 \\$x\\$ a\\_\\allowbreak{}b\\textasciicircum{}c\\textasciitilde{}d");
  EXPECT_EQ(escape_latex("^^41"), "\\textasciicircum{}\\textasciicircum{}41");
}

TEST(EscapeLatex, NamesWhatTheFontsLack) {
  EXPECT_EQ(escape_latex("é ±"), "é \\ensuremath{\\pm}");
  EXPECT_EQ(escape_latex("中"), "\\kymochar{4E2D}");
}

TEST(EscapeLatex, LetsLongWordsBreak) {
  EXPECT_THAT(escape_latex(std::string(60, 'a')), HasSubstr("a\\allowbreak{}a"));
}

TEST(EscapeTypst, MakesMarkupLiteral) {
  EXPECT_EQ(escape_typst("#image(\"x\") *b* _i_ $m$ `c` @r <l> [t]"),
            "\\#image(\\\"x\\\") \\*b\\* \\_i\\_ \\$m\\$ \\`c\\` \\@r \\<l\\> \\[t\\]");
  EXPECT_EQ(escape_typst(" = heading"), " \\= heading");
  EXPECT_EQ(escape_typst("12. item"), "12\\. item");
  EXPECT_EQ(escape_typst("/ term: // comment"), "\\/ term: \\/\\/ comment");
  EXPECT_EQ(escape_typst("https://x.y"), "https:\\/\\/x.y");
  EXPECT_EQ(escape_typst("a -- b ... -1"), "a \\-\\- b \\.\\.\\. \\-1");
}

TEST(EscapeTypst, LeavesOrdinaryNamesReadable) {
  EXPECT_EQ(escape_typst("warm-up, 2.7B, n=1024, a/b"), "warm-up, 2.7B, n=1024, a/b");
  EXPECT_EQ(typst_string("say \"x\\n\""), "\"say \\\"x\\\\n\\\"\"");
}

TEST(EscapeHtml, CoversTextAndAttributes) {
  EXPECT_EQ(escape_html("<a b=\"c\" d='e'>&"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
}

TEST(EscapeCsv, QuotesAndDisarms) {
  EXPECT_EQ(escape_csv("plain"), "plain");
  EXPECT_EQ(escape_csv("a,b"), "\"a,b\"");
  EXPECT_EQ(escape_csv("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(escape_csv("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(escape_csv("=1+1"), "'=1+1");
  EXPECT_EQ(escape_csv("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(escape_csv("-cmd"), "'-cmd");
  EXPECT_EQ(escape_csv("\tx"), "'\tx");
  EXPECT_EQ(escape_csv("-1.5e3"), "-1.5e3") << "numbers stay numbers";
  EXPECT_EQ(escape_csv("+2"), "+2");
}

class Hostile : public ::testing::TestWithParam<std::string> {};

TEST_P(Hostile, StaysOnOneLine) {
  const std::string& name = GetParam();
  for (const std::string& out : {escape_markdown(name), escape_latex(name), escape_typst(name), typst_string(name),
                                 escape_html(name), markdown_code(name, true)}) {
    EXPECT_EQ(out.find_first_of("\n\r\t"), std::string::npos) << out;
    EXPECT_EQ(printable(out), out) << "is valid, printable UTF-8";
  }
}

TEST_P(Hostile, LeavesNoActiveCharacter) {
  EXPECT_EQ(escape_html(GetParam()).find_first_of("<>\"'"), std::string::npos);
  EXPECT_EQ(escape_markdown(GetParam()).find_first_of("<>"), std::string::npos);
}

TEST_P(Hostile, LatexBracesBalance) {
  int depth = 0;
  const std::string out = escape_latex(GetParam());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '\\') {
      ++i;  // the next character belongs to the command
    } else if (out[i] == '{') {
      ++depth;
    } else if (out[i] == '}') {
      ASSERT_GE(--depth, 0) << out;
    } else {
      EXPECT_EQ(std::string_view("%$#&^~").find(out[i]) == std::string_view::npos || out.substr(i - 1, 2) == "{^", true)
          << out;
    }
  }
  EXPECT_EQ(depth, 0) << out;
}

INSTANTIATE_TEST_SUITE_P(Names, Hostile, ::testing::ValuesIn(testing::hostile_names()),
                         [](const auto& parameter) { return "name_" + std::to_string(parameter.index); });

}  // namespace
}  // namespace kymo::report
