// SPDX-License-Identifier: Apache-2.0
#include "cli/text_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/log.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "report/escape.hpp"

namespace kymo::cli {
namespace {

using Cell = store::ResultsDatabase::Cell;

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

std::string cell_text(const Cell& cell) {
  switch (cell.type) {
    case Cell::Type::kInteger:
      return std::to_string(cell.integer);
    case Cell::Type::kReal:
      return shortest_text(cell.real);
    case Cell::Type::kText:
      return cell.text;
    case Cell::Type::kNull:
      break;
  }
  return "";
}

/// Six significant digits. Large numbers keep all digits before the decimal point.
std::string rounded(double number) {
  return std::abs(number) >= 1e6 && std::abs(number) < 1e15 ? fmt::format("{:.0f}", number)
                                                            : fmt::format("{:.6g}", number);
}

bool is_number(const Cell& cell) { return cell.type == Cell::Type::kInteger || cell.type == Cell::Type::kReal; }

}  // namespace

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

bool colour_on_stdout() {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

std::string wrapped(const std::string& prefix, const std::string& text, std::size_t columns, std::size_t indent) {
  std::string result, line = prefix;
  std::size_t used = display_width(prefix);
  if (indent == kAnyWidth) indent = used;
  if (columns < kLeastText + indent) indent = std::min(indent, kHanging);
  bool is_begin = true;  // of a line
  for (std::string word : split(text, ' ')) {
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
    while (length > columns && word.find('/') == std::string::npos) {
      std::string_view rest = word;
      for (std::size_t taken = 0; taken == 0 || taken + display_width(first_code_point(rest).value) <= columns;)
        taken += display_width(take_code_point(rest));
      const std::size_t bytes = word.size() - rest.size();
      result += word.substr(0, bytes) + "\n";
      word.erase(0, bytes);
      length = display_width(word);
    }
    line += word;
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
      text += wrapped(name + std::string(width - display_width(name) + kColumnGap, ' '), visible(row[column]), columns);
    }
  }
  return text;
}

std::string json_text(const Json& json) { return visible_json(dump_json(json, 2)) + "\n"; }

void RowPrinter::columns(const std::vector<std::string>& names) {
  names_ = names;
  if (is_text()) text_ = {names, std::vector<bool>(names.size(), true), {}};
  if (format_ == RowFormat::kJson) print_("[");
  if (format_ != RowFormat::kCsv) return;
  std::vector<std::string> fields;
  for (const std::string& name : names) fields.push_back(report::escape_csv(name));
  print_(join(fields, ",") + "\r\n");
}

Json json_row(const std::vector<std::string>& columns, const std::vector<Cell>& cells) {
  Json object = Json::object();
  for (std::size_t column = 0; column < cells.size(); ++column) {
    const Cell& cell = cells[column];
    Json& value = object[columns[column]];
    if (cell.type == Cell::Type::kInteger) value = cell.integer;
    if (cell.type == Cell::Type::kReal) value = cell.real;
    if (cell.type == Cell::Type::kText) value = cell.text;
  }
  return object;
}

bool RowPrinter::row(const std::vector<Cell>& cells) {
  switch (format_) {
    case RowFormat::kText:
    case RowFormat::kRawText:
      if (text_.rows.size() == kMaxTextRows) return complete_ = false;
      add_text(cells);
      break;
    case RowFormat::kJson: {
      const std::string object = visible_json(dump_json(json_row(names_, cells), 2));
      print_(std::string(first_ ? "\n  " : ",\n  ") + join(split(object, '\n'), "\n  "));
      break;
    }
    case RowFormat::kCsv: {
      std::vector<std::string> fields;
      for (const Cell& cell : cells)
        fields.push_back(is_number(cell) ? cell_text(cell) : report::escape_csv(cell_text(cell)));
      print_(join(fields, ",") + "\r\n");
      break;
    }
  }
  first_ = false;
  return true;
}

void RowPrinter::add_text(const std::vector<Cell>& cells) {
  text_.rows.emplace_back();
  for (std::size_t column = 0; column < cells.size(); ++column) {
    const Cell& cell = cells[column];
    const bool round = cell.type == Cell::Type::kReal && format_ == RowFormat::kText;
    text_.rows.back().push_back(round ? rounded(cell.real) : cell_text(cell));
    if (!is_number(cells[column]) && cells[column].type != Cell::Type::kNull) text_.right[column] = false;
  }
}

void RowPrinter::finish() {
  if (format_ == RowFormat::kJson) print_(first_ ? "]\n" : "\n]\n");
  if (!is_text()) return;
  if (first_) text_.right.assign(text_.right.size(), false);
  const std::string table = render(text_, false);
  const std::size_t header_end = table.find('\n') + 1;  // the rule below has the whole width
  const bool fits = table.find('\n', header_end) - header_end <= columns_;
  print_(fits || text_.rows.empty() ? table : render_lists(text_, columns_));
}

void print_query(const store::ResultsDatabase& database, const std::string& sql, RowFormat format,
                 std::size_t columns) {
  static constexpr std::size_t kMaxHeldBytes = std::size_t{64} << 20;
  std::string held;
  const auto print_held = [&] {
    print(held);
    held.clear();
  };
  const auto hold = [&](const std::string& text) {
    held += text;
    if (held.size() >= kMaxHeldBytes) print_held();
  };
  RowPrinter printer(format, hold, columns);
  database.read(
      sql, {}, [&](const std::vector<std::string>& names) { printer.columns(names); },
      [&](const std::vector<Cell>& cells) { return printer.row(cells) && std::ferror(stdout) == 0; });
  printer.finish();
  print_held();
  if (printer.is_complete()) return;
  std::fflush(stdout);
  log::warning("only the first " + std::to_string(RowPrinter::kMaxTextRows) +
               " rows are shown; --json and --csv print all of them");
}

}  // namespace kymo::cli
