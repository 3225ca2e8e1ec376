// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/escape.hpp"
#include "report/latex_table.hpp"
#include "report/pgfplots.hpp"
#include "report/picture_notes.hpp"
#include "report/renderer.hpp"

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
  std::string out;
  for (const Span& span : spans) {
    const std::string text = escape_latex(span.text);
    switch (span.style) {
      case Style::kPlain:
        out += text;
        break;
      case Style::kEmphasis:
        out += "\\emph{" + text + "}";
        break;
      case Style::kStrong:
        out += "\\textbf{" + text + "}";
        break;
      case Style::kCode:
        out += "\\texttt{" + text + "}";
        break;
    }
  }
  return out;
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

class LatexRenderer final : public Renderer {
 public:
  std::string format() const override { return "latex"; }

  std::vector<OutputFile> render(const Document& document) const override {
    std::string out = kPreamble + pgfplots_preamble();
    out += fmt::format("\\title{{{}}}\n\\date{{}}\n\\begin{{document}}\n\\maketitle\n", escape_latex(document.title));
    out += blocks_latex(document.front_matter);
    if (document.sections.size() > 1) out += "\\tableofcontents\n";
    for (const Section& section : document.sections) {
      out += fmt::format("\n\\{}section{{{}}}\n", section.level > 1 ? "sub" : "", escape_latex(section.heading));
      out += blocks_latex(section.blocks);
    }
    out += fmt::format("\n\\bigskip\\hrule\\smallskip\n{{\\footnotesize {}\\par}}\n\\end{{document}}\n",
                       escape_latex(document.provenance));
    return {{"report.tex", out}};
  }
};

}  // namespace

std::unique_ptr<Renderer> make_latex_renderer() { return std::make_unique<LatexRenderer>(); }

}  // namespace kymo::report
