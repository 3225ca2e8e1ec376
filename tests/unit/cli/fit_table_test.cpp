// SPDX-License-Identifier: Apache-2.0
#include "cli/fit_table.hpp"

#include <gmock/gmock.h>

#include <set>

namespace kymo::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TextTable wide_table() {
  return {{"name", "a", "b", "c"}, {false, true, true, true}, {{"a long µname", "1", "22", "333"}}, {0, 1, 2, 2}};
}

TEST(FitTable, LeavesOutTheLargestNumberFirst) {
  TextTable table = wide_table();
  EXPECT_THAT(fit(table, 24), IsEmpty());
  EXPECT_THAT(fit(table, 23), ElementsAre("c"));
  EXPECT_THAT(table.header, ElementsAre("name", "a", "b"));
  EXPECT_THAT(table.rows.at(0), ElementsAre("a long µname", "1", "22"));
  table = wide_table();
  EXPECT_THAT(fit(table, 16), ElementsAre("b", "c"));
  EXPECT_EQ(render(table, false), "name          a\n------------  -\na long µname  1\n");
}

TEST(FitTable, ShortensTextThatDoesNotFit) {
  TextTable table = wide_table();
  EXPECT_THAT(fit(table, 10), ElementsAre("a", "b", "c"));
  EXPECT_EQ(table.rows.at(0).at(0), "a lon…name");
  table = wide_table();
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
  EXPECT_THAT(shortened_apart({begin + end, begin + "z" + end}, 8).at(0), testing::HasSubstr("az"))
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

TEST(FitTable, WritesMarkdown) {
  EXPECT_EQ(markdown({{"a_b", "n"}, {false, true}, {{"x|y\n", "1"}}}),
            "| a\\_b | n |\n| -- | --: |\n| x\\|y\\\\n | 1 |\n");
}

TEST(TableBuilder, DropsColumnsWithoutInformation) {
  TableBuilder builder(2);
  builder.add("same", false, 0, [](std::size_t) { return "x"; });
  builder.add("empty", false, 0, [](std::size_t) { return ""; });
  builder.add_if_different("equal", false, 0, [](std::size_t) { return "x"; });
  builder.add_if_different("row", true, 3, [](std::size_t row) { return std::to_string(row); });
  const TextTable table = builder.table();
  EXPECT_THAT(table.header, ElementsAre("same", "row"));
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("x", "0"), ElementsAre("x", "1")));
  EXPECT_THAT(table.optional, ElementsAre(0, 3));
}

}  // namespace
}  // namespace kymo::cli
