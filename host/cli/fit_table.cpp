// SPDX-License-Identifier: Apache-2.0
#include "cli/fit_table.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "base/utf8.hpp"

namespace kymo::cli {
namespace {

constexpr std::size_t kDefaultColumns = 100;
constexpr std::size_t kGap = 2;           // between two columns
constexpr std::size_t kShortestCell = 8;  // cells are not shortened below this
constexpr char32_t kEllipsis = U'…';

bool is_right(const TextTable& table, std::size_t column) { return column < table.right.size() && table.right[column]; }

std::size_t width_of(const TextTable& table, std::size_t column) {
  std::size_t width = code_point_count(visible(table.header[column]));
  for (const auto& row : table.rows) width = std::max(width, code_point_count(visible(row[column])));
  return width;
}

std::vector<std::size_t> widths_of(const TextTable& table) {
  std::vector<std::size_t> widths(table.header.size());
  for (std::size_t column = 0; column < widths.size(); ++column) widths[column] = width_of(table, column);
  return widths;
}

std::size_t line_width(const std::vector<std::size_t>& widths) {
  const std::size_t gaps = widths.empty() ? 0 : widths.size() - 1;
  return std::accumulate(widths.begin(), widths.end(), gaps * kGap);
}

template <typename T>
void erase_marked(std::vector<T>& values, const std::vector<bool>& marked) {
  std::size_t index = 0;
  std::erase_if(values, [&](const T&) { return marked[index++]; });
}

void erase_columns(TextTable& table, const std::vector<bool>& marked) {
  erase_marked(table.header, marked);
  erase_marked(table.right, marked);
  erase_marked(table.optional, marked);
  for (auto& row : table.rows) erase_marked(row, marked);
}

/// The optional columns in the order in which to leave them out: those with larger numbers first, the last of several
/// first.
std::vector<std::size_t> optional_columns(const TextTable& table) {
  std::vector<std::size_t> columns;
  for (std::size_t column = std::min(table.optional.size(), table.header.size()); column-- > 0;)
    if (table.optional[column] > 0) columns.push_back(column);
  std::ranges::stable_sort(columns, std::greater{}, [&](std::size_t column) { return table.optional[column]; });
  return columns;
}

/// The widths after the widest columns are shortened, to the same width, so that the table fits.
std::vector<std::size_t> fitting_widths(const TextTable& table, std::vector<std::size_t> widths, std::size_t columns) {
  for (std::size_t total = line_width(widths); total > columns; --total) {
    std::size_t widest = widths.size();
    std::size_t width = kShortestCell;
    for (std::size_t column = 0; column < widths.size(); ++column) {
      if (is_right(table, column) || widths[column] <= width) continue;
      widest = column;
      width = widths[column];
    }
    if (widest == widths.size()) break;
    --widths[widest];
  }
  return widths;
}

/// `widths_before` are those of the columns.
void shorten_widest(TextTable& table, const std::vector<std::size_t>& widths_before, std::size_t columns) {
  const std::vector<std::size_t> widths = fitting_widths(table, widths_before, columns);
  for (std::size_t column = 0; column < widths.size(); ++column) {
    if (widths[column] == widths_before[column]) continue;
    std::vector<std::string> cells;
    for (const auto& row : table.rows) cells.push_back(visible(row[column]));
    cells = shortened_apart(cells, widths[column]);
    for (std::size_t row = 0; row < cells.size(); ++row) table.rows[row][column] = std::move(cells[row]);
    table.header[column] = shortened(table.header[column], widths[column]);
  }
}

std::u32string code_points(std::string_view text) {
  std::u32string points;
  while (!text.empty()) points += take_code_point(text);
  return points;
}

std::string utf8_of(const std::u32string& points) {
  std::string text;
  for (const char32_t point : points) append_utf8(text, point);
  return text;
}

std::u32string without_middle(const std::u32string& text, std::size_t columns) {
  const std::size_t tail = (columns - 1) / 2;
  return text.substr(0, columns - 1 - tail) + kEllipsis + text.substr(text.size() - tail);
}

/// The begin of a text, and what follows `position`.
std::u32string around(const std::u32string& text, std::size_t position, std::size_t columns) {
  const std::size_t head = columns / 4;
  const std::size_t left = columns - head - 1;
  const std::u32string begin = text.substr(0, head) + kEllipsis;
  if (text.size() - position <= left) return begin + text.substr(text.size() - std::min(left, text.size() - head));
  return begin + text.substr(position, left - 1) + kEllipsis;
}

std::size_t common_length(const std::vector<std::u32string>& texts) {
  std::size_t length = texts.front().size();
  for (const std::u32string& text : texts) {
    const auto [first, second] = std::ranges::mismatch(texts.front(), text);
    length = std::min(length, static_cast<std::size_t>(first - texts.front().begin()));
  }
  return length;
}

using Shortened = std::map<std::u32string, std::u32string>;  ///< by original text

/// Shows where texts differ that look the same when they are shortened.
void take_apart(Shortened& shorter, std::size_t columns) {
  std::map<std::u32string, std::vector<std::u32string>> alike;
  for (const auto& [text, shown] : shorter) alike[shown].push_back(text);
  for (const auto& [shown, texts] : alike) {
    if (texts.size() == 1) continue;
    Shortened apart;
    for (const std::u32string& text : texts)
      apart[text] = text.size() > columns ? around(text, common_length(texts), columns) : text;
    const bool differs =
        std::ranges::any_of(apart, [&](const auto& each) { return each.second != apart.begin()->second; });
    if (differs) take_apart(apart, columns);
    for (const auto& [text, better] : apart) shorter[text] = better;
  }
}

bool are_different(const Shortened& shorter) {
  std::set<std::u32string> shown;
  for (const auto& [text, each] : shorter) shown.insert(each);
  return shown.size() == shorter.size();
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
  std::vector<std::size_t> widths = widths_of(table);
  std::size_t width = line_width(widths);
  std::vector<bool> is_left_out(widths.size(), false);
  std::vector<std::string> left_out;
  for (const std::size_t column : optional_columns(table)) {
    if (width <= columns) break;
    width -= std::min(width, widths[column] + kGap);  // the last column has no gap
    is_left_out[column] = true;
    left_out.push_back(table.header[column]);
  }
  erase_columns(table, is_left_out);
  erase_marked(widths, is_left_out);
  std::ranges::reverse(left_out);
  shorten_widest(table, widths, columns);
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

std::vector<std::string> shortened_apart(const std::vector<std::string>& texts, std::size_t columns) {
  Shortened shorter;
  for (;; ++columns) {
    shorter.clear();
    for (const std::string& text : texts) {
      const std::u32string points = code_points(text);
      shorter[points] = points.size() > columns ? without_middle(points, columns) : points;
    }
    take_apart(shorter, columns);
    if (are_different(shorter)) break;
  }
  std::vector<std::string> result;
  for (const std::string& text : texts) result.push_back(utf8_of(shorter[code_points(text)]));
  return result;
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
