// SPDX-License-Identifier: Apache-2.0
#include "cli/fit_table.hpp"

#include <gmock/gmock.h>

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
  EXPECT_EQ(table.rows.at(0).at(0), "a long µn…");
  fit(table, 1);
  EXPECT_EQ(table.rows.at(0).at(0), "a long …") << "a minimum stays";
  TextTable numbers{{"n"}, {true}, {{"123456789012"}}};
  fit(numbers, 5);
  EXPECT_EQ(numbers.rows.at(0).at(0), "123456789012") << "numbers are never cut";
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
