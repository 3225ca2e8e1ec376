// SPDX-License-Identifier: Apache-2.0
#include "cli/fit_table.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace kymo::cli {
namespace {

constexpr std::size_t kDefaultColumns = 100;
constexpr std::size_t kShortestCell = 8;  // cells are not shortened below this
constexpr std::size_t kWrappedText =
    40;  // columns that a wrapped column has at least, if there are others to leave out
constexpr std::size_t kReadableCell = 24;  // cells are shortened to it before columns are left out
constexpr std::size_t kMaxLeftOut = 3;     // columns that are named
constexpr char32_t kEllipsis = U'…';

bool is_right(const TextTable& table, std::size_t column) { return column < table.right.size() && table.right[column]; }

std::size_t width_of(const TextTable& table, std::size_t column) {
  std::size_t width = display_width(visible(table.header[column]));
  for (const auto& row : table.rows) width = std::max(width, display_width(visible(row[column])));
  return table.wraps && column + 1 == table.header.size() ? std::min(width, kWrappedText) : width;
}

std::vector<std::size_t> widths_of(const TextTable& table) {
  std::vector<std::size_t> widths(table.header.size());
  for (std::size_t column = 0; column < widths.size(); ++column) widths[column] = width_of(table, column);
  return widths;
}

std::size_t line_width(const std::vector<std::size_t>& widths) {
  const std::size_t gaps = widths.empty() ? 0 : widths.size() - 1;
  return std::accumulate(widths.begin(), widths.end(), gaps * kColumnGap);
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

/// The number of rows that differ in their left-aligned columns, without those that are left out.
std::size_t distinct_rows(const TextTable& table, const std::vector<bool>& is_left_out) {
  std::set<std::vector<std::string>> distinct;
  for (const auto& row : table.rows) {
    std::vector<std::string> texts;
    for (std::size_t column = 0; column < row.size(); ++column)
      if (!is_left_out[column] && !is_right(table, column)) texts.push_back(row[column]);
    distinct.insert(std::move(texts));
  }
  return distinct.size();
}

/// The widths after the widest columns are shortened, to the same width, so that the table fits. `least`: of each.
std::vector<std::size_t> fitting_widths(const TextTable& table, std::vector<std::size_t> widths,
                                        const std::vector<std::size_t>& least, std::size_t columns) {
  const std::size_t shortened = widths.size() - (table.wraps ? 1 : 0);
  for (std::size_t total = line_width(widths); total > columns; --total) {
    std::size_t widest = widths.size();
    for (std::size_t column = 0; column < shortened; ++column) {
      if (is_right(table, column) || widths[column] <= least[column]) continue;
      if (widest == widths.size() || widths[column] > widths[widest]) widest = column;
    }
    if (widest == widths.size()) break;
    --widths[widest];
  }
  return widths;
}

/// Shortens the widest columns. Where a column remains wider, because its texts would look the same, others become
/// shorter.
void shorten_widest(TextTable& table, std::size_t columns) {
  const TextTable original = table;
  const std::vector<std::size_t> widths_before = widths_of(original);
  std::vector<std::size_t> least(widths_before.size(), kShortestCell);
  for (std::size_t attempt = 0; attempt <= widths_before.size() && !fits(table, columns); ++attempt) {
    table = original;
    const std::vector<std::size_t> widths = fitting_widths(original, widths_before, least, columns);
    for (std::size_t column = 0; column < widths.size(); ++column) {
      if (widths[column] == widths_before[column]) continue;
      std::vector<std::string> cells;
      for (const auto& row : table.rows) cells.push_back(visible(row[column]));
      cells = shortened_apart(cells, widths[column]);
      for (std::size_t row = 0; row < cells.size(); ++row) table.rows[row][column] = std::move(cells[row]);
      table.header[column] = shortened_apart({table.header[column]}, widths[column]).front();
      least[column] = width_of(table, column);
    }
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

std::size_t width_of(std::u32string_view text) {
  std::size_t width = 0;
  for (const char32_t point : text) width += display_width(point);
  return width;
}

/// The longest begin of a text that fits.
std::u32string_view begin_of(std::u32string_view text, std::size_t columns) {
  std::size_t length = 0, used = 0;
  for (; length < text.size() && used + display_width(text[length]) <= columns; ++length)
    used += display_width(text[length]);
  return text.substr(0, length);
}

/// The longest end of a text that fits.
std::u32string_view end_of(std::u32string_view text, std::size_t columns) {
  std::size_t first = text.size(), used = 0;
  for (; first > 0 && used + display_width(text[first - 1]) <= columns; --first) used += display_width(text[first - 1]);
  return text.substr(first);
}

std::u32string without_middle(std::u32string_view text, std::size_t columns) {
  const std::u32string_view end = end_of(text, (columns - 1) / 2);
  std::u32string shorter(begin_of(text, columns - 1 - width_of(end)));
  return (shorter += kEllipsis) += end;
}

/// The begin of a text, and what follows `position`.
std::u32string around(std::u32string_view text, std::size_t position, std::size_t columns) {
  std::u32string shorter(begin_of(text, columns / 4));
  const std::size_t head = shorter.size();
  shorter += kEllipsis;
  const std::size_t left = columns - width_of(shorter);
  const std::u32string_view rest = text.substr(position);
  if (width_of(rest) <= left) return shorter += end_of(text.substr(head), left);
  return (shorter += begin_of(rest, left - 1)) += kEllipsis;
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
      apart[text] = width_of(text) > columns ? around(text, common_length(texts), columns) : text;
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

std::size_t output_columns(int stream) {
  winsize size{};
  if (isatty(stream) == 1 && ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* text = std::getenv("COLUMNS");
  std::size_t columns = 0;
  if (text != nullptr) std::from_chars(text, text + std::string_view(text).size(), columns);
  return columns > 0 ? columns : kDefaultColumns;
}

TableStyle output_style(bool wide, bool markdown) { return {wide, markdown, colour_on_stdout(), output_columns()}; }

std::string table_text(const TextTable& table, const TableStyle& style) {
  if (style.markdown) return markdown(table);
  if (style.wide) return render(table, style.colour);
  TextTable fitted = table;
  std::vector<std::string> left_out = fit(fitted, style.columns);
  if (!fits(fitted, style.columns) && !table.wraps && !table.rows.empty()) return render_lists(table, style.columns);
  const std::string text = render(fitted, style.colour, style.columns);
  if (left_out.empty()) return text;
  const std::size_t more = left_out.size() - std::min(left_out.size(), kMaxLeftOut);
  left_out.resize(left_out.size() - more);
  return text + style.text("not shown in " + std::to_string(style.columns) + " columns: " + join(left_out, ", ") +
                           (more > 0 ? " and " + std::to_string(more) + " more" : "") + " (--wide)\n");
}

std::vector<std::string> fit(TextTable& table, std::size_t columns) {
  const TextTable original = table;
  std::vector<std::size_t> widths = widths_of(table);
  for (std::size_t column = 0; column < widths.size(); ++column)
    if (!is_right(table, column)) widths[column] = std::min(widths[column], kReadableCell);
  std::size_t width = line_width(widths);
  std::vector<bool> is_left_out(widths.size(), false);
  const std::size_t distinct = distinct_rows(table, is_left_out);
  std::vector<std::size_t> optional = optional_columns(table);
  std::ranges::reverse(optional);
  for (;;) {
    if (width <= columns || optional.empty()) {
      table = original;
      erase_columns(table, is_left_out);
      shorten_widest(table, columns);
      if (fits(table, columns) || optional.empty()) break;
    }
    const std::size_t column = optional.back();
    optional.pop_back();
    is_left_out[column] = true;
    if (is_right(original, column) || distinct_rows(original, is_left_out) == distinct)
      width -= std::min(width, widths[column] + kColumnGap);  // the last column has no gap
    else
      is_left_out[column] = false;
  }
  std::vector<std::string> left_out;
  for (std::size_t column = 0; column < is_left_out.size(); ++column)
    if (is_left_out[column]) left_out.push_back(original.header[column]);
  return left_out;
}

bool fits(const TextTable& table, std::size_t columns) { return line_width(widths_of(table)) <= columns; }

std::string markdown(const TextTable& table) {
  std::string text = markdown_row(table.header) + "|";
  for (std::size_t column = 0; column < table.header.size(); ++column)
    text += is_right(table, column) ? " --: |" : " -- |";
  text += "\n";
  for (const auto& row : table.rows) text += markdown_row(row);
  return text;
}

std::vector<std::string> shortened_apart(const std::vector<std::string>& texts, std::size_t columns) {
  Shortened shorter;
  for (;; ++columns) {
    shorter.clear();
    for (const std::string& text : texts) {
      const std::u32string points = code_points(text);
      shorter[points] = width_of(points) > columns ? without_middle(points, columns) : points;
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
