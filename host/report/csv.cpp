// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/escape.hpp"
#include "report/renderer.hpp"

namespace kymo::report {
namespace {

// Numbers are written in full, not as the page rounds them: the file is for further computing.
std::string number_field(double value) { return fmt::format("{}", value); }

std::string field(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::kAbsent:
      return "";
    case Cell::Kind::kInteger:
      return std::to_string(cell.integer);
    case Cell::Kind::kReal:
      return number_field(cell.real);
    default:
      return escape_csv(cell.text);
  }
}

bool has_uncertainty(const Table& table, std::size_t column) {
  for (const auto& row : table.rows) {
    if (row[column].uncertainty) return true;
  }
  return false;
}

std::string heading(const Column& column, const char* suffix) {
  return escape_csv(column.title + suffix + (column.unit.empty() ? "" : " (" + column.unit + ")"));
}

std::string table_csv(const Table& table) {
  std::string out;
  std::vector<bool> uncertain;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    uncertain.push_back(has_uncertainty(table, i));
    out += (i > 0 ? "," : "") + heading(table.columns[i], "");
    if (uncertain[i]) out += "," + heading(table.columns[i], " std");
  }
  out += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += (i > 0 ? "," : "") + field(row[i]);
      if (uncertain[i]) out += "," + (row[i].uncertainty ? number_field(*row[i].uncertainty) : "");
    }
    out += "\r\n";
  }
  return out;
}

class CsvRenderer final : public Renderer {
 public:
  std::string format() const override { return "csv"; }

  std::vector<OutputFile> render(const Document& document) const override {
    std::vector<OutputFile> files;
    for (const Section& section : document.sections) {
      for (const Block& block : section.blocks) {
        if (const auto* table = std::get_if<Table>(&block)) files.push_back({"tables/" + table->name + ".csv", table_csv(*table)});
      }
    }
    return files;
  }
};

}  // namespace

std::unique_ptr<Renderer> make_csv_renderer() { return std::make_unique<CsvRenderer>(); }

}  // namespace kymo::report
