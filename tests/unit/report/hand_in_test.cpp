// SPDX-License-Identifier: Apache-2.0
#include "report/hand_in.hpp"

#include <gtest/gtest.h>

#include "report/prose.hpp"

namespace kymo::report {
namespace {

Table numbered(const std::string& name, std::int64_t rows) {
  Table table{name, name + ".", {Column{"n", "n", "", Align::kRight, {}, false, 0}}, {}, {}, "SELECT"};
  for (std::int64_t i = 0; i < rows; ++i) {
    Cell cell;
    cell.kind = Cell::Kind::kInteger;
    cell.integer = i;
    table.rows.push_back({cell});
  }
  return table;
}

std::vector<std::string> first_cells(const Table& table) {
  std::vector<std::string> texts;
  for (const auto& row : table.rows) texts.push_back(row[0].is_number() ? std::to_string(row[0].integer) : row[0].text);
  return texts;
}

Document with_section(std::vector<Block> blocks) {
  Document document;
  document.sections.push_back({"Question 1", 2, std::move(blocks)});
  return document;
}

TEST(HandIn, KeepsTheEndsOfALongTableAndNamesItsFile) {
  const Document document = shortened_to_hand_in(with_section({numbered("long", 20)}));
  const Table& table = std::get<Table>(document.sections.at(0).blocks.at(0));
  EXPECT_EQ(first_cells(table), (std::vector<std::string>{"0", "1", "2", "3", "…", "17", "18", "19"}));
  EXPECT_EQ(table.notes, std::vector<std::string>{"7 of 20 rows; the others are in `tables/long.csv`."});
}

TEST(HandIn, KeepsAShortTableAsItIs) {
  const Document document = shortened_to_hand_in(with_section({numbered("short", 8)}));
  const Table& table = std::get<Table>(document.sections.at(0).blocks.at(0));
  EXPECT_EQ(table.rows.size(), 8u);
  EXPECT_TRUE(table.notes.empty());
}

TEST(HandIn, TablesOfASectionShareItsRows) {
  const Document document =
      shortened_to_hand_in(with_section({numbered("first", 5), numbered("second", 9), numbered("third", 4)}));
  const std::vector<Block>& blocks = document.sections.at(0).blocks;
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(first_cells(std::get<Table>(blocks[1])), (std::vector<std::string>{"0", "…", "8"}));
  EXPECT_EQ(std::get<Paragraph>(blocks[2]).spans.at(1).text, "tables/third.csv");
}

TEST(HandIn, KeepsOneFigure) {
  Chart first, second;
  first.caption = "first";
  const Document document = shortened_to_hand_in(with_section({first, second}));
  ASSERT_EQ(document.sections.at(0).blocks.size(), 1u);
  EXPECT_EQ(std::get<Chart>(document.sections[0].blocks[0]).caption, "first");
}

TEST(HandIn, ListsSectionsWithoutData) {
  Document document = with_section({numbered("table", 1)});
  document.sections.push_back({"Question 2", 2, {Notice{Notice::Kind::kEmpty, parse_prose("Run it.")}}});
  document.sections.push_back({"Question 3", 2, {Paragraph{{{Style::kPlain, "By formula."}}}}});
  const Document shortened = shortened_to_hand_in(std::move(document));
  ASSERT_EQ(shortened.sections.size(), 3u);
  EXPECT_EQ(shortened.sections[1].heading, "Question 3");
  const List& missing = std::get<List>(shortened.sections[2].blocks.at(1));
  ASSERT_EQ(missing.items.size(), 1u);
  EXPECT_EQ(missing.items[0].at(0).text, "Question 2");
}

}  // namespace
}  // namespace kymo::report
