// SPDX-License-Identifier: Apache-2.0
#include "report/latex_table.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/text.hpp"
#include "report/escape.hpp"
#include "report/number.hpp"
#include "report/table_layout.hpp"

namespace kymo::report {
namespace {

constexpr std::size_t kLongTable = 28;

const char* font_command(TableLayout::Font font) {
  return font == TableLayout::Font::kSmall ? "\\footnotesize" : "\\scriptsize";
}

std::string column_type(const Table& table, const TableLayout& layout, std::size_t i) {
  const ColumnLayout& column = layout.columns[i];
  if (column.numeric) {
    std::string format = fmt::format("{}{}.{}", column.negative ? "-" : "", column.integer_digits, column.decimals);
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
  if (text.numeric && text.suffix.empty())
    return text.uncertainty.empty() ? text.value : text.value + " +- " + text.uncertainty;
  const std::string value = escape_latex(plain_text(column, cell));
  if (cell.kind == Cell::Kind::kState) return "{\\textit{" + value + "}}";
  return column.code && cell.kind == Cell::Kind::kText && !value.empty() ? "{\\ttfamily " + value + "}"
                                                                         : "{" + value + "}";
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
  for (const std::string& note : table.notes)
    out += "\\par\\smallskip{\\raggedright\\footnotesize " + escape_latex(note) + "\\par}\n";
  return out;
}

}  // namespace

std::string latex_table(const Table& table) {
  const TableLayout layout = lay_out(table);
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
        "{{{0}\n\\begin{{longtable}}{{{1}}}\n\\caption[]{{{2}}}\\\\\n\\toprule\n{3}"
        "\\midrule\n\\endfirsthead\n\\toprule\n{3}"
        "\\midrule\n\\endhead\n"
        "\\bottomrule\n\\endfoot\n{4}\\end{{longtable}}\n{5}}}\n",
        font_command(layout.font), types, caption, head, rows_latex(table), notes_latex(table));
  } else {
    out = fmt::format(
        "\\par\\medskip\\noindent\\begin{{minipage}}{{\\linewidth}}\\centering\n\\captionof{{table}}[]{{{0}}}\n{1}"
        "\n\\begin{{tabular}}{{{2}"
        "}}\n"
        "\\toprule\n{3}\\midrule\n{4}\\bottomrule\n\\end{{tabular}}\n{5}\\end{{minipage}}\\par\\medskip\n",
        caption, font_command(layout.font), types, head, rows_latex(table), notes_latex(table));
  }
  return layout.landscape ? "\\begin{landscape}\n" + out + "\\end{landscape}\n" : out;
}

}  // namespace kymo::report
