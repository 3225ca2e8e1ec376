// SPDX-License-Identifier: Apache-2.0
#include "report/result.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/number.hpp"
#include "report/prose.hpp"

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

std::string left_out(std::int64_t count, const std::string& one, const std::string& several) {
  if (count == 0) return "";
  return " " + grouped(std::to_string(count)) + " " + (count == 1 ? one + " is" : several + " are") + " left out.";
}

}  // namespace kymo::report
