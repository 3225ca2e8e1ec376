// SPDX-License-Identifier: Apache-2.0
#include "report/table_layout.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "report/number.hpp"

namespace kymo::report {
namespace {

// Widths in points: of the text block in portrait and landscape, and of a letter of each font.
constexpr double kTextWidth = 483;
constexpr double kLandscapeWidth = 728;
constexpr double kSmallLetter = 4.1;
constexpr double kSmallestLetter = 3.7;
constexpr double kColumnGap = 8;
constexpr double kSmallestTextColumn = 62;

// Breaks a title at spaces into lines of about `width` letters; the unit gets its own line.
std::vector<std::string> heading_lines(const Column& column, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& word : split(column.title, ' ')) {
    const bool fits =
        !lines.empty() && (code_point_count(lines.back()) + 1 + code_point_count(word) <= width || word.size() < 2);
    if (fits) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  if (const std::string unit = common_unit(column); !unit.empty()) lines.push_back("(" + unit + ")");
  return lines;
}

ColumnLayout measure_column(const Table& table, std::size_t index) {
  const Column& column = table.columns[index];
  ColumnLayout layout;
  std::size_t state_letters = 0;
  for (const auto& row : table.rows) {
    const CellText text = cell_text(column, row[index]);
    if (!text.numeric || !text.suffix.empty()) {
      state_letters = std::max(state_letters, code_point_count(plain_text(column, row[index])));
      continue;
    }
    layout.numeric = true;
    const bool negative = text.value.starts_with('-');
    layout.negative |= negative;
    const std::size_t before_point = std::min(text.value.find_first_of(".e"), text.value.size()) - (negative ? 1 : 0);
    layout.integer_digits = std::max(layout.integer_digits, before_point);
    layout.decimals = std::max(layout.decimals, decimals_of(text.value));
    layout.uncertainty_digits = std::max(
        layout.uncertainty_digits, text.uncertainty.size() - std::min<std::size_t>(1, decimals_of(text.uncertainty)));
  }
  const std::size_t number_letters = (layout.negative ? 2 : 0) + layout.integer_digits + layout.integer_digits / 3 +
                                     layout.decimals + 1 +
                                     (layout.uncertainty_digits > 0 ? layout.uncertainty_digits + 3 : 0);
  constexpr std::size_t kHeadingLetters = 10;
  layout.letters = std::max(state_letters, layout.numeric ? number_letters : 0);
  layout.heading = heading_lines(column, std::max(kHeadingLetters, layout.letters));
  for (const std::string& line : layout.heading) layout.letters = std::max(layout.letters, code_point_count(line));
  return layout;
}

// True for text columns that may wrap; short ones stay on one line.
bool wraps(const Table& table, const TableLayout& layout, std::size_t i) {
  constexpr std::size_t kNeverWraps = 16;
  return table.columns[i].align == Align::kLeft && !layout.columns[i].numeric &&
         layout.columns[i].letters > kNeverWraps;
}

// Letters of the monospaced font are wider.
double natural_width(const Table& table, const TableLayout& layout, std::size_t i, double letter) {
  return static_cast<double>(layout.columns[i].letters) * letter * (table.columns[i].code ? 1.1 : 1);
}

// Distributes the remaining width to text columns, each at most its natural width. Returns false if even the minimum
// widths do not fit.
bool fit(const Table& table, TableLayout& layout, double available, double letter) {
  double fixed = 0;
  double wanted = 0;
  double floor = 0;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const double natural = natural_width(table, layout, i, letter);
    fixed += kColumnGap;
    if (wraps(table, layout, i)) {
      wanted += natural;
      floor += std::min(natural, kSmallestTextColumn);
    } else {
      fixed += natural;
    }
  }
  for (ColumnLayout& column : layout.columns) column.width = 0;
  if (fixed + wanted <= available) return true;
  const double share = wanted > floor ? std::max(0.0, (available - fixed - floor) / (wanted - floor)) : 0;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    if (!wraps(table, layout, i)) continue;
    const double natural = natural_width(table, layout, i, letter);
    const double smallest = std::min(natural, kSmallestTextColumn);
    layout.columns[i].width = smallest + share * (natural - smallest);
  }
  return fixed + floor <= available;
}

}  // namespace

TableLayout lay_out(const Table& table) {
  TableLayout layout;
  for (std::size_t i = 0; i < table.columns.size(); ++i) layout.columns.push_back(measure_column(table, i));
  if (fit(table, layout, kTextWidth, kSmallLetter)) return layout;
  layout.font = TableLayout::Font::kSmallest;
  if (fit(table, layout, kTextWidth, kSmallestLetter)) return layout;
  layout.landscape = true;
  layout.font = TableLayout::Font::kSmall;
  if (fit(table, layout, kLandscapeWidth, kSmallLetter)) return layout;
  layout.font = TableLayout::Font::kSmallest;
  fit(table, layout, kLandscapeWidth, kSmallestLetter);
  return layout;
}

}  // namespace kymo::report
