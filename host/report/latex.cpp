// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "base/text.hpp"
#include "report/escape.hpp"
#include "report/number.hpp"
#include "report/pgfplots.hpp"
#include "report/prose.hpp"
#include "report/renderer.hpp"
#include "report/table_layout.hpp"
#include "report/timeline_picture.hpp"

namespace kymo::report {
namespace {

constexpr const char* kPreamble = R"tex(% Compiles with pdflatex, run twice; needs booktabs, siunitx and pgfplots.
\documentclass[10pt,a4paper]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{array}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage{pdflscape}
\usepackage{xcolor}
\usepackage{caption}
\usepackage{siunitx}
\usepackage{pgfplots}
\usepackage[hidelinks,bookmarks=false]{hyperref}
\sisetup{separate-uncertainty=true, group-minimum-digits=5, table-number-alignment=right, table-text-alignment=right,
  table-align-uncertainty=false}
\captionsetup{font=small, labelfont=bf, justification=raggedright, singlelinecheck=false, skip=5pt}
\setlength{\parindent}{0pt}
\setlength{\parskip}{5pt plus 1pt}
\setlength{\tabcolsep}{4pt}
\setlength{\emergencystretch}{3em}
\renewcommand{\arraystretch}{1.12}
\DeclareRobustCommand{\kymoquote}{{\ttfamily\char34}}
\DeclareRobustCommand{\kymobacktick}{{\ttfamily\char18}}
\DeclareRobustCommand{\kymochar}[1]{{\footnotesize[U+#1]}}
\DeclareRobustCommand{\kymounknown}{{\footnotesize[?]}}
\newcommand{\kymonotice}[2]{\par\medskip\noindent\fcolorbox{#1!60!black}{#1!12}{%
  \parbox{\dimexpr\linewidth-2\fboxsep-2\fboxrule\relax}{\setlength{\parskip}{3pt}#2}}\par\medskip}
)tex";

std::string inline_latex(const Spans& spans) {
  return inline_text(spans, {{{"{}", escape_latex},
                              {"\\emph{{{}}}", escape_latex},
                              {"\\textbf{{{}}}", escape_latex},
                              {"\\texttt{{{}}}", escape_latex}}});
}

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
    out += "\\par\\smallskip{\\raggedright\\footnotesize " + inline_latex(parse_spans(note)) + "\\par}\n";
  return out;
}

/// The table with its caption and notes: booktabs rules, siunitx columns, several pages if it is long, landscape if it
/// is wide.
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

std::string list_latex(const List& list) {
  std::string out = "\\begin{itemize}\n\\setlength{\\itemsep}{0pt}\n";
  for (const Spans& item : list.items) out += "\\item {}" + inline_latex(item) + "\n";
  return out + "\\end{itemize}\n";
}

struct BlockLatex {
  std::string operator()(const Paragraph& paragraph) const { return inline_latex(paragraph.spans) + "\n\n"; }
  std::string operator()(const List& list) const { return list_latex(list) + "\n"; }
  std::string operator()(const Notice& notice) const {
    std::string body;
    for (const auto& part : notice.prose) body += std::visit(*this, part);
    while (!body.empty() && body.back() == '\n') body.pop_back();
    return fmt::format("\\kymonotice{{{}}}{{{}}}\n", notice.kind == Notice::Kind::kWarning ? "orange" : "gray", body);
  }
  std::string operator()(const Table& table) const { return latex_table(table); }
  std::string operator()(const Chart& chart) const {
    return fmt::format(
        "\\par\\medskip\\noindent\\begin{{minipage}}{{\\linewidth}}\\centering\n{}\\captionof{{figure}}[]{{{}}}\n\\end{"
        "{minipage}}"
        "\\par\\medskip\n",
        pgfplots_picture(chart), escape_latex(picture_caption(chart)));
  }
};

std::string blocks_latex(const std::vector<Block>& blocks) {
  std::string out;
  for (const Block& block : blocks) out += std::visit(BlockLatex{}, block);
  return out;
}

}  // namespace

std::vector<OutputFile> render_latex(const Document& document) {
  std::string out = kPreamble + pgfplots_preamble();
  out += fmt::format("\\title{{{}}}\n\\date{{}}\n\\begin{{document}}\n\\maketitle\n", escape_latex(document.title));
  out += blocks_latex(document.front_matter);
  if (!document.is_short && document.sections.size() > 1) out += "\\tableofcontents\n";
  for (const Section& section : document.sections) {
    out += fmt::format("\n\\{}section{{{}}}\n", section.level > 1 ? "sub" : "", escape_latex(section.heading));
    out += blocks_latex(section.blocks);
  }
  out += fmt::format("\n\\bigskip\\hrule\\smallskip\n{{\\footnotesize {}\\par}}\n\\end{{document}}\n",
                     escape_latex(document.provenance));
  return {{"report.tex", out}};
}

}  // namespace kymo::report
