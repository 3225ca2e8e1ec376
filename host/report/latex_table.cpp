// SPDX-License-Identifier: Apache-2.0
#include "report/latex_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/text.hpp"
#include "report/escape.hpp"
#include "report/number.hpp"
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

// Widths in points: of the text block of an A4 page with margins of 2 cm, upright and turned, and of a letter per font size.
constexpr double kTextWidth = 483;
constexpr double kTurnedWidth = 728;
constexpr double kFootnoteLetter = 4.1;
constexpr double kScriptLetter = 3.7;
constexpr double kColumnGap = 8;
constexpr double kSmallestTextColumn = 62;
constexpr std::size_t kLongTable = 28;

struct ColumnLayout {
  bool siunitx = false;
  std::size_t integer_digits = 1;
  std::size_t decimals = 0;
  std::size_t uncertainty_digits = 0;
  std::size_t letters = 1;           // natural width
  double width = 0;                  // of a wrapping text column; 0: as wide as it needs
  std::vector<std::string> heading;  // lines
};

struct Layout {
  std::vector<ColumnLayout> columns;
  const char* font = "\\footnotesize";
  bool turned = false;
};

std::size_t decimals_of(std::string_view number) {
  const std::size_t point = number.find('.');
  const std::size_t end = std::min(number.find('e'), number.size());
  return point == std::string_view::npos ? 0 : end - point - 1;
}

// Breaks a title at its blanks into lines of about `width` letters; the unit has a line of its own.
std::vector<std::string> heading_lines(const Column& column, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& word : split(column.title, ' ')) {
    const bool fits = !lines.empty() && (code_point_count(lines.back()) + 1 + code_point_count(word) <= width || word.size() < 2);
    if (fits) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  if (!column.unit.empty()) lines.push_back("(" + column.unit + ")");
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
    layout.siunitx = true;
    layout.integer_digits = std::max(layout.integer_digits, std::min(text.value.find_first_of(".e"), text.value.size()));
    layout.decimals = std::max(layout.decimals, decimals_of(text.value));
    layout.uncertainty_digits =
        std::max(layout.uncertainty_digits, text.uncertainty.size() - std::min<std::size_t>(1, decimals_of(text.uncertainty)));
  }
  const std::size_t number_letters = layout.integer_digits + layout.integer_digits / 3 + layout.decimals + 1 +
                                     (layout.uncertainty_digits > 0 ? layout.uncertainty_digits + 3 : 0);
  constexpr std::size_t kHeadingLetters = 10;
  layout.letters = std::max(state_letters, layout.siunitx ? number_letters : 0);
  layout.heading = heading_lines(column, std::max(kHeadingLetters, layout.letters));
  for (const std::string& line : layout.heading) layout.letters = std::max(layout.letters, code_point_count(line));
  return layout;
}

// Texts that may wrap; short ones stay on one line.
bool wraps(const Table& table, const Layout& layout, std::size_t i) {
  constexpr std::size_t kNeverWraps = 16;
  return table.columns[i].align == Align::kLeft && !layout.columns[i].siunitx && layout.columns[i].letters > kNeverWraps;
}

// Letters of the typewriter face are wider.
double natural_width(const Table& table, const Layout& layout, std::size_t i, double letter) {
  return static_cast<double>(layout.columns[i].letters) * letter * (table.columns[i].code ? 1.1 : 1);
}

// Gives text columns what the others leave, each at most its natural width. Returns false if not even the smallest widths fit.
bool fit(const Table& table, Layout& layout, double available, double letter) {
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
  if (fixed + floor > available) return false;
  const double share = wanted > floor ? (available - fixed - floor) / (wanted - floor) : 0;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    if (!wraps(table, layout, i)) continue;
    const double natural = natural_width(table, layout, i, letter);
    const double smallest = std::min(natural, kSmallestTextColumn);
    layout.columns[i].width = smallest + share * (natural - smallest);
  }
  return true;
}

Layout lay_out(const Table& table) {
  Layout layout;
  for (std::size_t i = 0; i < table.columns.size(); ++i) layout.columns.push_back(measure_column(table, i));
  if (fit(table, layout, kTextWidth, kFootnoteLetter)) return layout;
  layout.font = "\\scriptsize";
  if (fit(table, layout, kTextWidth, kScriptLetter)) return layout;
  layout.turned = true;
  layout.font = "\\footnotesize";
  if (fit(table, layout, kTurnedWidth, kFootnoteLetter)) return layout;
  layout.font = "\\scriptsize";
  fit(table, layout, kTurnedWidth, kScriptLetter);
  return layout;
}

std::string column_type(const Table& table, const Layout& layout, std::size_t i) {
  const ColumnLayout& column = layout.columns[i];
  if (column.siunitx) {
    std::string format = fmt::format("{}.{}", column.integer_digits, column.decimals);
    if (column.uncertainty_digits > 0) format += fmt::format("({})", column.uncertainty_digits);
    return "S[table-format=" + format + "]";
  }
  if (table.columns[i].align == Align::kRight) return "r";
  return column.width > 0 ? fmt::format(">{{\\raggedright\\arraybackslash}}p{{{:.1f}pt}}", column.width) : "l";
}

std::string heading(const Column& column, const ColumnLayout& layout) {
  std::vector<std::string> lines;
  for (const std::string& line : layout.heading) lines.push_back(escape_latex(line));
  if (lines.size() == 1) return "{" + lines.front() + "}";
  return fmt::format("{{\\shortstack[{}]{{{}}}}}", column.align == Align::kRight ? "r" : "l", join(lines, "\\\\"));
}

std::string cell_latex(const Column& column, const Cell& cell) {
  const CellText text = cell_text(column, cell);
  if (text.numeric && text.suffix.empty()) return text.uncertainty.empty() ? text.value : text.value + " +- " + text.uncertainty;
  const std::string value = escape_latex(plain_text(column, cell));
  if (cell.kind == Cell::Kind::kState) return "{\\textit{" + value + "}}";
  return column.code && cell.kind == Cell::Kind::kText && !value.empty() ? "{\\ttfamily " + value + "}" : "{" + value + "}";
}

std::string rows_latex(const Table& table) {
  std::string out;
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i) cells.push_back(cell_latex(table.columns[i], row[i]));
    out += join(cells, " & ") + " \\\\\n";
  }
  return out;
}

std::string notes_latex(const Table& table) {
  std::string out;
  for (const std::string& note : table.notes) out += "\\par\\smallskip{\\raggedright\\footnotesize " + escape_latex(note) + "\\par}\n";
  return out;
}

}  // namespace

std::string latex_table(const Table& table) {
  const Layout layout = lay_out(table);
  std::string types = "@{}";
  std::vector<std::string> headings;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    types += column_type(table, layout, i);
    headings.push_back(heading(table.columns[i], layout.columns[i]));
  }
  types += "@{}";
  const std::string head = join(headings, " & ") + " \\\\\n";
  const std::string caption = escape_latex(table.caption);
  std::string out;
  if (table.rows.size() > kLongTable) {
    out = fmt::format(
        "{{{0}\n\\begin{{longtable}}{{{1}}}\n\\caption[]{{{2}}}\\\\\n\\toprule\n{3}\\midrule\n\\endfirsthead\n\\toprule\n{3}"
        "\\midrule\n\\endhead\n"
        "\\bottomrule\n\\endfoot\n{4}\\end{{longtable}}\n{5}}}\n",
        layout.font, types, caption, head, rows_latex(table), notes_latex(table));
  } else {
    out = fmt::format(
        "\\par\\medskip\\noindent\\begin{{minipage}}{{\\linewidth}}\\centering\n\\captionof{{table}}[]{{{0}}}\n{1}\n\\begin{{tabular}}{{{2}"
        "}}\n"
        "\\toprule\n{3}\\midrule\n{4}\\bottomrule\n\\end{{tabular}}\n{5}\\end{{minipage}}\\par\\medskip\n",
        caption, layout.font, types, head, rows_latex(table), notes_latex(table));
  }
  return layout.turned ? "\\begin{landscape}\n" + out + "\\end{landscape}\n" : out;
}

}  // namespace kymo::report
