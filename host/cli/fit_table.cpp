// SPDX-License-Identifier: Apache-2.0
#include "cli/fit_table.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/utf8.hpp"

namespace kymo::cli {
namespace {

constexpr std::size_t kDefaultColumns = 100;
constexpr std::size_t kGap = 2;           // between two columns
constexpr std::size_t kShortestCell = 8;  // cells are not shortened below this

bool is_right(const TextTable& table, std::size_t column) { return column < table.right.size() && table.right[column]; }

std::size_t width_of(const TextTable& table, std::size_t column) {
  std::size_t width = code_point_count(visible(table.header[column]));
  for (const auto& row : table.rows) width = std::max(width, code_point_count(visible(row[column])));
  return width;
}

std::size_t width_of(const TextTable& table) {
  std::size_t width = 0;
  for (std::size_t column = 0; column < table.header.size(); ++column)
    width += width_of(table, column) + (column > 0 ? kGap : 0);
  return width;
}

template <typename T>
void erase_at(std::vector<T>& values, std::size_t index) {
  if (index < values.size()) values.erase(values.begin() + static_cast<std::ptrdiff_t>(index));
}

void erase_column(TextTable& table, std::size_t column) {
  erase_at(table.header, column);
  erase_at(table.right, column);
  erase_at(table.optional, column);
  for (auto& row : table.rows) erase_at(row, column);
}

/// The column to leave out next: that with the largest number, the last of several.
std::size_t next_optional(const TextTable& table) {
  std::size_t found = table.header.size();
  int most = 0;
  for (std::size_t column = 0; column < std::min(table.optional.size(), table.header.size()); ++column) {
    if (table.optional[column] == 0 || table.optional[column] < most) continue;
    most = table.optional[column];
    found = column;
  }
  return found;
}

void shorten_widest(TextTable& table, std::size_t columns) {
  while (width_of(table) > columns) {
    std::size_t widest = table.header.size();
    std::size_t width = kShortestCell;
    for (std::size_t column = 0; column < table.header.size(); ++column) {
      if (is_right(table, column) || width_of(table, column) <= width) continue;
      widest = column;
      width = width_of(table, column);
    }
    if (widest == table.header.size()) return;
    const std::size_t excess = width_of(table) - columns;
    const std::size_t wanted = std::max(kShortestCell, width > excess ? width - excess : 0);
    table.header[widest] = shortened(table.header[widest], wanted);
    for (auto& row : table.rows) row[widest] = shortened(visible(row[widest]), wanted);
  }
}

std::string markdown_cell(const std::string& cell) {
  std::string text;
  for (const char letter : visible(cell)) {
    if (std::string_view("|\\`*_<>[]").find(letter) != std::string_view::npos) text += '\\';
    text += letter;
  }
  return text;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + markdown_cell(cell) + " |";
  return line + "\n";
}

}  // namespace

std::size_t output_columns() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* text = std::getenv("COLUMNS");
  std::size_t columns = 0;
  if (text != nullptr) std::from_chars(text, text + std::string_view(text).size(), columns);
  return columns > 0 ? columns : kDefaultColumns;
}

std::vector<std::string> fit(TextTable& table, std::size_t columns) {
  std::vector<std::string> left_out;
  while (width_of(table) > columns) {
    const std::size_t column = next_optional(table);
    if (column == table.header.size()) break;
    left_out.insert(left_out.begin(), table.header[column]);
    erase_column(table, column);
  }
  shorten_widest(table, columns);
  return left_out;
}

std::string markdown(const TextTable& table) {
  std::string text = markdown_row(table.header) + "|";
  for (std::size_t column = 0; column < table.header.size(); ++column)
    text += is_right(table, column) ? " --: |" : " -- |";
  text += "\n";
  for (const auto& row : table.rows) text += markdown_row(row);
  return text;
}

std::string shortened(const std::string& text, std::size_t columns) {
  if (code_point_count(text) <= columns) return text;
  std::string kept;
  std::string_view rest = text;
  for (std::size_t count = 1; count < columns; ++count) append_utf8(kept, take_code_point(rest));
  return kept + "…";
}

void TableBuilder::add(const std::string& name, bool right, int optional, const CellOf& cell) {
  Column column{name, right, optional, {}};
  for (std::size_t row = 0; row < rows_; ++row) column.cells.push_back(cell(row));
  if (std::any_of(column.cells.begin(), column.cells.end(), [](const std::string& text) { return !text.empty(); }))
    columns_.push_back(std::move(column));
}

void TableBuilder::add_if_different(const std::string& name, bool right, int optional, const CellOf& cell) {
  const std::size_t before = columns_.size();
  add(name, right, optional, cell);
  if (columns_.size() == before) return;
  const std::vector<std::string>& cells = columns_.back().cells;
  if (std::all_of(cells.begin(), cells.end(), [&](const std::string& text) { return text == cells.front(); }))
    columns_.pop_back();
}

TextTable TableBuilder::table() const {
  TextTable table;
  table.rows.resize(rows_);
  for (const Column& column : columns_) {
    table.header.push_back(column.name);
    table.right.push_back(column.right);
    table.optional.push_back(column.optional);
    for (std::size_t row = 0; row < rows_; ++row) table.rows[row].push_back(column.cells[row]);
  }
  return table;
}

}  // namespace kymo::cli
