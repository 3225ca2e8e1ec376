// SPDX-License-Identifier: Apache-2.0
#include "cli/text_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "report/escape.hpp"

namespace kymo::cli {
namespace {

using Cell = store::ResultsDatabase::Cell;

/// Approximate display width: UTF-8 continuation bytes take no column.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char letter) { return (letter & 0xC0) != 0x80; }));
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

bool is_number(const Cell& cell) { return cell.type == Cell::Type::kInteger || cell.type == Cell::Type::kReal; }

}  // namespace

bool colour_on_stdout() {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

std::string render(const TextTable& table, bool colour) {
  std::vector<std::vector<std::string>> lines{table.header};
  lines.insert(lines.end(), table.rows.begin(), table.rows.end());
  std::vector<std::size_t> widths(table.header.size(), 0);
  for (auto& line : lines) {
    for (std::size_t column = 0; column < line.size(); ++column) {
      line[column] = visible(line[column]);
      widths[column] = std::max(widths[column], width(line[column]));
    }
  }
  std::string text;
  for (std::size_t row = 0; row < lines.size(); ++row) {
    std::string line;
    for (std::size_t column = 0; column < lines[row].size(); ++column) {
      const std::string& cell = lines[row][column];
      const std::string gap(widths[column] - width(cell), ' ');
      const bool right = column < table.right.size() && table.right[column];
      const char* paint = colour && row > 0 ? colour_of(cell) : nullptr;
      const std::string shown = paint == nullptr ? cell : paint + cell + "\033[0m";
      line += (column > 0 ? "  " : "") + (right ? gap + shown : shown + gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (row == 0) {
      for (std::size_t column = 0; column < widths.size(); ++column)
        text += std::string(column > 0 ? "  " : "") + std::string(widths[column], '-');
      text += "\n";
    }
  }
  return text;
}

std::string render_rows(const store::ResultsDatabase::Table& table) {
  TextTable text{table.columns, std::vector<bool>(table.columns.size(), !table.rows.empty()), {}};
  for (const auto& row : table.rows) {
    text.rows.emplace_back();
    for (std::size_t column = 0; column < row.size(); ++column) {
      text.rows.back().push_back(cell_text(row[column]));
      if (!is_number(row[column]) && row[column].type != Cell::Type::kNull) text.right[column] = false;
    }
  }
  return render(text, false);
}

std::string json_text(const Json& json) { return visible_json(dump_json(json, 2)) + "\n"; }

std::string rows_to_json(const store::ResultsDatabase::Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t column = 0; column < row.size(); ++column) {
      const Cell& cell = row[column];
      Json& value = object[table.columns[column]];
      if (cell.type == Cell::Type::kInteger) value = cell.integer;
      if (cell.type == Cell::Type::kReal) value = cell.real;
      if (cell.type == Cell::Type::kText) value = cell.text;
    }
    rows.push_back(std::move(object));
  }
  return json_text(rows);
}

std::string rows_to_csv(const store::ResultsDatabase::Table& table) {
  std::string text;
  const auto add = [&](std::size_t column, const std::string& cell) { text += (column > 0 ? "," : "") + cell; };
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    add(column, report::escape_csv(table.columns[column]));
  text += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      add(column, is_number(row[column]) ? cell_text(row[column]) : report::escape_csv(cell_text(row[column])));
    }
    text += "\r\n";
  }
  return text;
}

}  // namespace kymo::cli
