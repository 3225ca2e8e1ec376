// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace kymo::report {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TextTable omitting_table() {
  return {{"name", "a", "b", "c"}, {false, true, true, true}, {{"a long µname", "1", "22", "333"}}, {0, 1, 2, 2}};
}

TEST(FitTable, LeavesOutTheLargestNumberFirst) {
  TextTable table = omitting_table();
  EXPECT_THAT(fit(table, 24), IsEmpty());
  EXPECT_THAT(fit(table, 23), ElementsAre("c"));
  EXPECT_THAT(table.header, ElementsAre("name", "a", "b"));
  EXPECT_THAT(table.rows.at(0), ElementsAre("a long µname", "1", "22"));
  table = omitting_table();
  EXPECT_THAT(fit(table, 16), ElementsAre("b", "c"));
  EXPECT_EQ(render(table, false), "name          a\n------------  -\na long µname  1\n");
}

TEST(FitTable, ShortensTextThatDoesNotFit) {
  TextTable table = omitting_table();
  EXPECT_THAT(fit(table, 10), ElementsAre("a", "b", "c"));
  EXPECT_EQ(table.rows.at(0).at(0), "a lon…name");
  table = omitting_table();
  fit(table, 1);
  EXPECT_EQ(table.rows.at(0).at(0), "a lo…ame") << "a minimum stays";
  TextTable numbers{{"n"}, {true}, {{"123456789012"}}};
  fit(numbers, 5);
  EXPECT_EQ(numbers.rows.at(0).at(0), "123456789012") << "numbers are never cut";
}

TEST(FitTable, ShortensTheWidestColumnsToTheSameWidth) {
  const std::string operation = "aten::scaled_dot_product_attention";
  TextTable table{{"operator", "module", "phase", "time"},
                  {false, false, false, true},
                  {{operation, "Transformer/layers.*/attention", "forward", "1 ms"},
                   {"aten::mm", "Transformer/layers.*/feed_forward", "forward", "1 ms"}}};
  fit(table, 60);
  EXPECT_THAT(table.rows.at(0), ElementsAre("aten::scal…_attention", "Transformer…/attention", "forward", "1 ms"));
  EXPECT_THAT(table.rows.at(1), ElementsAre("aten::mm", "Transformer…ed_forward", "forward", "1 ms"));
}

TEST(FitTable, KeepsRowsApart) {
  const std::string begin(30, 'a'), end(30, 'z');
  EXPECT_THAT(shortened_apart({begin + "left" + end, begin + "right" + end, begin + "left" + end, "short"}, 12),
              ElementsAre("aaa…leftzzz…", "aaa…rightzz…", "aaa…leftzzz…", "short"));
  EXPECT_THAT(shortened_apart({begin + "1" + begin + "2" + end, begin + "1" + begin + "3" + end, begin + "4" + end}, 8),
              ElementsAre("aa…2zzz…", "aa…3zzz…", "aa…4zzz…"));
  EXPECT_THAT(shortened_apart({begin + end, begin + "z" + end}, 8).at(0), ::testing::HasSubstr("az"))
      << "longer than 8, because every part of them is one of the other";
  // Names of which every part may differ.
  for (std::size_t columns = 8; columns < 40; ++columns) {
    std::vector<std::string> names;
    for (int i = 0; i < 64; ++i) {
      std::string name;
      for (int bit = 0; bit < 6; ++bit) name += std::string(bit + 3, 'x') + (((i >> bit) & 1) != 0 ? "0" : "1");
      names.push_back(name);
    }
    const auto shorter = shortened_apart(names, columns);
    EXPECT_EQ(std::set(shorter.begin(), shorter.end()).size(), names.size()) << columns;
  }
}

/// The lines of a text that are wider than `columns`.
std::vector<std::string> too_wide(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines = split(text, '\n');
  std::erase_if(lines, [&](const std::string& line) { return display_width(line) <= columns; });
  return lines;
}

TEST(FitTable, FitsGeneratedTables) {
  const std::vector<std::string> letters{"a", "b", "/", ".", "µ", "…", "層", "한", "🚀", "e\xCC\x81", "_", "0"};
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t texts = 1 + below(4), numbers = below(8);
    TextTable table;
    for (std::size_t column = 0; column < texts + numbers; ++column) {
      table.header.push_back("c" + std::to_string(column));
      table.right.push_back(column >= texts);
      table.optional.push_back(column < texts ? static_cast<int>(below(2)) : 1 + static_cast<int>(below(3)));
    }
    std::set<std::vector<std::string>> distinct;
    const std::string common(below(60), 'x');  // names that differ only in the middle
    while (distinct.size() < 20) {
      std::vector<std::string> row;
      for (std::size_t column = 0; column < texts; ++column) {
        std::string cell = common;
        for (std::size_t i = 1 + below(30); i > 0; --i) cell += letters[below(letters.size())];
        row.push_back(cell + common);
      }
      for (std::size_t i = 0; i < numbers; ++i) row.push_back(std::to_string(below(1 << 20)));
      if (distinct.insert({row.begin(), row.begin() + static_cast<std::ptrdiff_t>(texts)}).second)
        table.rows.push_back(row);
    }
    for (const std::size_t columns : {60, 80, 100, 120}) {
      TextTable fitted = table;
      fit(fitted, columns);
      EXPECT_TRUE(fits(fitted, columns));
      EXPECT_THAT(too_wide(render(fitted, false), columns), IsEmpty());
      std::set<std::vector<std::string>> shown;
      for (std::vector<std::string> row : fitted.rows) {
        std::erase_if(row, [](const std::string& cell) { return parse_integer(cell).has_value(); });
        shown.insert(row);
      }
      EXPECT_EQ(shown.size(), 20u) << "rows look the same in " << columns << " columns";
    }
  }
}

TEST(FitTable, KeepsAColumnThatTellsRowsApart) {
  TextTable table{{"name", "module", "device"}, {}, {{"mm", "layers.0", "cpu"}, {"mm", "layers.1", "cpu"}}, {0, 2, 1}};
  EXPECT_THAT(fit(table, 14), ElementsAre("device"));
}

TEST(FitTable, NamesTheColumnsThatAreLeftOut) {
  TextStyle style;
  style.columns = 18;
  EXPECT_EQ(table_text(omitting_table(), style),
            "name          a\n------------  -\na long µname  1\nnot shown in 18\n  columns: b, c\n  (--wide)\n");
  style.wide = true;
  EXPECT_THAT(table_text(omitting_table(), style), ::testing::HasSubstr("333"));
}

TEST(FitTable, ListsTheValuesOfATableThatIsTooWide) {
  TextStyle style;
  style.columns = 30;
  const TextTable table{
      {"name", "number", "second"}, {false, true, true}, {{"one", "12345678901234", "56789012345678"}}};
  EXPECT_EQ(table_text(table, style), "name    one\nnumber  12345678901234\nsecond  56789012345678\n");
}

TEST(FitTable, ShortensTextBeforeItLeavesOutColumns) {
  TextTable table{{"name", "n"}, {false, true}, {{std::string(50, 'x'), "12"}}, {0, 1}};
  EXPECT_THAT(fit(table, 30), IsEmpty());
  EXPECT_THAT(fit(table, 24), ElementsAre("n"));
}

TEST(FitTable, WrapsTheLastColumn) {
  TextTable table{{"workload", "text"}, {}, {{"w", "repeat one collective to measure its latency"}, {"層", "short"}}};
  table.wraps = true;
  TextStyle style;
  style.columns = 34;
  EXPECT_EQ(table_text(table, style),
            "workload  text\n"
            "--------  ------------------------\n"
            "w         repeat one collective to\n"
            "          measure its latency\n"
            "層        short\n");
}

TEST(TextTable, AlignsByCharactersNotBytes) {
  const TextTable table{{"name", "time"}, {false, true}, {{"a", "1 ± 2"}, {"long", "10"}}};
  EXPECT_EQ(render(table, false), "name   time\n----  -----\na     1 ± 2\nlong     10\n");
}

TEST(TextTable, WrapsTextBetweenWords) {
  EXPECT_EQ(wrapped("1. ", "one two three", 100), "1. one two three\n");
  EXPECT_EQ(wrapped("--option  ", "one two three four five", 30), "--option  one two three four\n          five\n");
  EXPECT_EQ(wrapped("--long-option ", "text", 40, 8), "--long-option\n        text\n") << "beyond the indentation";
  EXPECT_EQ(wrapped("file      ", "in /a/long/path/to/some/file.so", 30),
            "file      in\n  /a/long/path/to/some/file.so\n")
      << "begins further to the left";
  EXPECT_EQ(wrapped("file      ", "/a/path/that/is/longer/than/a/line", 30),
            "file\n/a/path/that/is/longer/than/a/line\n");
  EXPECT_EQ(wrapped("", std::string(50, 'x'), 30), std::string(30, 'x') + "\n" + std::string(20, 'x') + "\n");
  EXPECT_EQ(wrapped("", "層層層層層層層層層層 層層層層層層", 21), "層層層層層層層層層層\n層層層層層層\n");
  EXPECT_EQ(wrapped("a prefix of 20 chars ", "one two", 25), "a prefix of 20 chars\n  one two\n")
      << "too little is left";
}

TEST(TextTable, WrapsOnlyLinesThatDoNotFit) {
  EXPECT_EQ(wrapped_lines("short  line\n  one two three four five six\nend", 24),
            "short  line\n  one two three four\n    five six\nend");
  EXPECT_EQ(wrapped_lines("", 24), "");
}

TEST(TextTable, ShowsControlCharacters) {
  EXPECT_EQ(visible("a\nb\tc\x1b[31m\x7f"), "a\\nb\\tc\\x1b[31m\\x7f");
  EXPECT_EQ(visible("\xc2\x9b"
                    "2J \xc2\xb5s"),
            "\\x9b2J \xc2\xb5s");
}

TEST(TextTable, ColoursOnlyWhenAsked) {
  const TextTable table{{"status"}, {}, {{"failed"}}};
  EXPECT_EQ(render(table, false).find('\033'), std::string::npos);
  EXPECT_NE(render(table, true).find("\033[31mfailed\033[0m"), std::string::npos);
}

}  // namespace
}  // namespace kymo::report
