// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace kymo::report {
namespace {

constexpr std::size_t kShortestCell = 8;  // cells are not shortened below this
constexpr std::size_t kWrappedText =
    40;  // columns that a wrapped column has at least, if there are others to leave out
constexpr std::size_t kReadableCell = 24;  // cells are shortened to it before columns are left out
constexpr std::size_t kMaxLeftOut = 3;     // columns that are named
constexpr char32_t kEllipsis = U'…';

constexpr std::size_t kLeastText = 20;  // columns beside an indentation; with less, text begins on a line of its own
constexpr std::size_t kHanging = 2;     // indentation of such lines, and of the rest of a wrapped line

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

const char* colour_of(const std::string& cell) {
  if (cell == "ok" || cell == "passed" || cell == "FASTER") return "\033[32m";
  if (cell == "failed" || cell == "crashed" || cell == "timeout" || cell == "error" || cell == "SLOWER")
    return "\033[31m";
  if (cell == "oom" || cell == "interrupted" || cell == "skipped" || cell == "not verified" || cell == "warning")
    return "\033[33m";
  return nullptr;
}

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
  return std::accumulate(widths.begin(), widths.end(), gaps * kTextGap);
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

}  // namespace

std::string wrapped(const std::string& prefix, const std::string& text, std::size_t columns, std::size_t indent) {
  std::string result, line = prefix;
  std::size_t used = display_width(prefix);
  if (indent == kAnyWidth) indent = used;
  if (columns < kLeastText + indent) indent = std::min(indent, kHanging);
  bool is_begin = true;  // of a line
  for (const std::string& word : split(text, ' ')) {
    std::size_t length = display_width(word);
    const bool fits_indented = columns >= indent && length <= columns - indent;
    const std::size_t begin = fits_indented ? indent : std::min(2 * kHanging, columns - std::min(columns, length));
    if (is_begin ? used > indent || (used > begin && used + length > columns) : used + 1 + length > columns) {
      result += without_trailing_spaces(line) + "\n";
      line = std::string(begin, ' ');
      used = begin;
    } else if (!is_begin) {
      line += " ";
      ++used;
    }
    is_begin = false;
    const bool is_path = word.find('/') != std::string::npos;
    std::string_view rest = word;
    while (length > columns && !is_path) {
      const std::string_view begun = rest;
      std::size_t taken = 0;
      while (taken == 0 || taken + display_width(first_code_point(rest).value) <= columns)
        taken += display_width(take_code_point(rest));
      result += std::string(begun.substr(0, begun.size() - rest.size())) + "\n";
      length -= std::min(taken, length);  // sequences that set colours have no width
    }
    line += rest;
    used += length;
  }
  return result + without_trailing_spaces(line) + "\n";
}

std::string wrapped_lines(const std::string& text, std::size_t columns) {
  std::string result;
  std::vector<std::string> lines = split(text, '\n');
  const bool is_ended = lines.back().empty();
  if (is_ended) lines.pop_back();
  for (const std::string& line : lines) {
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    const bool fits = display_width(line) <= columns;
    result += fits ? line + "\n" : wrapped(line.substr(0, blanks), line.substr(blanks), columns, blanks + kHanging);
  }
  if (!is_ended) result.pop_back();
  return result;
}

std::string render(const TextTable& table, bool colour, std::size_t columns) {
  std::vector<std::vector<std::string>> lines{table.header};
  append_range(lines, table.rows);
  std::vector<std::size_t> widths(table.header.size(), 0);
  for (auto& line : lines) {
    for (std::size_t column = 0; column < line.size(); ++column) {
      line[column] = visible(line[column]);
      widths[column] = std::max(widths[column], display_width(line[column]));
    }
  }
  std::string text;
  for (std::size_t row = 0; row < lines.size(); ++row) {
    std::string line;
    for (std::size_t column = 0; column < lines[row].size(); ++column) {
      const std::string& cell = lines[row][column];
      if (column > 0) line += "  ";
      if (table.wraps && column + 1 == widths.size()) {
        text += wrapped(line, cell, columns);
        break;
      }
      const std::string gap(widths[column] - display_width(cell), ' ');
      const bool right = column < table.right.size() && table.right[column];
      const char* paint = colour && row > 0 ? colour_of(cell) : nullptr;
      const std::string shown = paint == nullptr ? cell : paint + cell + "\033[0m";
      line += right ? gap + shown : shown + gap;
    }
    if (!table.wraps) text += without_trailing_spaces(line) + "\n";
    if (row > 0) continue;
    std::string rule;
    for (const std::size_t width : widths) rule += (rule.empty() ? "" : "  ") + std::string(width, '-');
    if (table.wraps && rule.size() > columns) rule.resize(columns);
    text += rule + "\n";
  }
  return text;
}

std::string render_lists(const TextTable& table, std::size_t columns) {
  std::size_t width = 0;
  for (const std::string& name : table.header) width = std::max(width, display_width(visible(name)));
  std::string text;
  for (const auto& row : table.rows) {
    text += text.empty() ? "" : "\n";
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string name = visible(table.header[column]);
      text += wrapped(name + std::string(width - display_width(name) + kTextGap, ' '), visible(row[column]), columns);
    }
  }
  return text;
}

std::string table_text(const TextTable& table, const TextStyle& style) {
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
      width -= std::min(width, widths[column] + kTextGap);  // the last column has no gap
    else
      is_left_out[column] = false;
  }
  std::vector<std::string> left_out;
  for (std::size_t column = 0; column < is_left_out.size(); ++column)
    if (is_left_out[column]) left_out.push_back(original.header[column]);
  return left_out;
}

bool fits(const TextTable& table, std::size_t columns) { return line_width(widths_of(table)) <= columns; }

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

}  // namespace kymo::report
