// SPDX-License-Identifier: Apache-2.0
#include "terminal/print.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/log.hpp"
#include "base/text.hpp"
#include "plan/option_text.hpp"
#include "report/escape.hpp"
#include "report/result.hpp"

namespace kymo::terminal {
namespace {

using Cell = store::ResultsDatabase::Cell;

constexpr std::size_t kDefaultColumns = 100;

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

std::size_t output_columns(int stream) {
  winsize size{};
  if (isatty(stream) == 1 && ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* text = std::getenv("COLUMNS");
  std::size_t columns = 0;
  if (text != nullptr) std::from_chars(text, text + std::string_view(text).size(), columns);
  return columns > 0 ? columns : kDefaultColumns;
}

TextStyle output_style(bool wide, bool markdown) {
  const char* no_colour = std::getenv("NO_COLOR");
  const bool colour = isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
  return {wide, markdown, colour, output_columns()};
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

bool RowPrinter::row(const std::vector<Cell>& cells) {
  switch (format_) {
    case RowFormat::kText:
    case RowFormat::kRawText:
      if (text_.rows.size() == kMaxTextRows) return complete_ = false;
      add_text(cells);
      break;
    case RowFormat::kJson: {
      const std::string object = visible_json(dump_json(report::json_row(names_, cells), 2));
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
  const std::string table = report::render(text_, false);
  const std::size_t header_end = table.find('\n') + 1;  // the rule below has the whole width
  const bool fits = table.find('\n', header_end) - header_end <= columns_;
  print_(fits || text_.rows.empty() ? table : report::render_lists(text_, columns_));
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

std::string database_option(const std::string& file) {
  return file == "kymo.db" ? "" : " --db " + plan::shell_word(file);
}

}  // namespace kymo::terminal
