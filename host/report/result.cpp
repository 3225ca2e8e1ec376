// SPDX-License-Identifier: Apache-2.0
#include "report/result.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/number.hpp"

namespace kymo::report {

std::optional<std::size_t> find_column(const Result& result, const std::string& name) {
  const auto found = std::find(result.columns.begin(), result.columns.end(), name);
  if (found == result.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - result.columns.begin());
}

std::size_t require_column(const QueryFile& file, const Result& result, const std::string& name) {
  const auto found = find_column(result, name);
  if (!found)
    throw UsageError(file.name + ": the query has no column " + quote(name) + suggestion(name, result.columns));
  return *found;
}

std::optional<double> number_of(const ResultCell& cell) {
  if (cell.type == ResultCell::Type::kInteger) return static_cast<double>(cell.integer);
  if (cell.type != ResultCell::Type::kReal || !std::isfinite(cell.real)) return std::nullopt;
  return cell.real;
}

std::optional<std::int64_t> integer_of(const ResultCell& cell) {
  if (cell.type == ResultCell::Type::kInteger) return cell.integer;
  if (cell.type != ResultCell::Type::kReal || std::isnan(cell.real)) return std::nullopt;
  constexpr double kLimit = 9.2e18;
  return static_cast<std::int64_t>(std::llround(std::clamp(cell.real, -kLimit, kLimit)));
}

Cell cell_from(const ResultCell& cell) {
  using Type = ResultCell::Type;
  Cell out;
  switch (cell.type) {
    case Type::kNull:
      break;
    case Type::kInteger:
      out.kind = Cell::Kind::kInteger;
      out.integer = cell.integer;
      break;
    case Type::kReal:
      out.kind = Cell::Kind::kReal;
      out.real = cell.real;
      break;
    case Type::kText:
      out.kind = Cell::Kind::kText;
      out.text = cell.text;
      break;
  }
  return out;
}

void complete(Cell& cell, const ColumnSpec& spec, const Result& rows, std::size_t row) {
  if (!cell.is_number()) return;
  const auto number = [&](const std::string& name) {
    const auto column = name.empty() ? std::nullopt : find_column(rows, name);
    return column ? number_of(rows.rows[row][*column]) : std::nullopt;
  };
  cell.uncertainty = number(spec.plus_minus);
  cell.to = number(spec.to);
  if (!spec.unit.starts_with('{')) return;
  if (const auto column = find_column(rows, spec.unit.substr(1, spec.unit.size() - 2)))
    cell.unit = text_of(rows.rows[row][*column]);
}

Column column_from(const std::string& name, const ColumnSpec* spec) {
  Column column;
  column.name = name;
  column.title = name;
  std::replace(column.title.begin(), column.title.end(), '_', ' ');
  if (spec == nullptr) return column;
  if (spec->title) column.title = *spec->title;
  column.unit = spec->unit;
  column.format = spec->format;
  column.code = spec->code;
  column.omit = spec->omit;
  column.align = spec->align.value_or(Align::kLeft);
  return column;
}

std::string label_of(const ResultCell& cell) {
  Column plain;
  plain.format.kind = NumberFormat::Kind::kPlain;
  return plain_text(plain, cell_from(cell));
}

std::string text_of(const ResultCell& cell) {
  if (cell.type == ResultCell::Type::kText) return cell.text;
  return cell.type == ResultCell::Type::kNull ? "" : label_of(cell);
}

std::vector<std::string> labels_in(const Result& result, std::size_t column) {
  std::vector<std::string> labels;
  std::set<std::string> known;
  for (const auto& row : result.rows) {
    if (const std::string label = label_of(row[column]); known.insert(label).second) labels.push_back(label);
  }
  return labels;
}

Result rows_of_part(const Result& result, const std::string& split, const std::string& part) {
  const auto column = split.empty() ? std::nullopt : find_column(result, split);
  if (!column) return result;
  Result rows{result.columns, {}};
  std::copy_if(result.rows.begin(), result.rows.end(), std::back_inserter(rows.rows),
               [&](const auto& row) { return label_of(row[*column]) == part; });
  return rows;
}

Json json_row(const std::vector<std::string>& columns, const std::vector<ResultCell>& cells) {
  Json object = Json::object();
  for (std::size_t column = 0; column < cells.size(); ++column) {
    const ResultCell& cell = cells[column];
    Json& value = object[columns[column]];
    if (cell.type == ResultCell::Type::kInteger) value = cell.integer;
    if (cell.type == ResultCell::Type::kReal) value = cell.real;
    if (cell.type == ResultCell::Type::kText) value = cell.text;
  }
  return object;
}

Json json_rows(const Result& result) {
  Json rows = Json::array();
  for (const auto& cells : result.rows) rows.push_back(json_row(result.columns, cells));
  return rows;
}

std::string left_out(std::int64_t count, const std::string& one, const std::string& several) {
  if (count == 0) return "";
  return " " + grouped(std::to_string(count)) + " " + (count == 1 ? one + " is" : several + " are") + " left out.";
}

}  // namespace kymo::report
