// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "report/escape.hpp"
#include "report/number.hpp"
#include "report/prose.hpp"
#include "report/renderer.hpp"
#include "report/svg.hpp"
#include "report/table_layout.hpp"
#include "report/timeline_picture.hpp"

namespace kymo::report {
namespace {

constexpr const char* kFirstLine = "// Requires Typst 0.12 or newer and no packages. The pictures are in figures/.\n";

constexpr const char* kHead = R"typst(#set page(paper: "a4", margin: 2cm, numbering: "1")
#set text(font: "New Computer Modern", size: 10pt)
#set par(spacing: 0.8em)
#set heading(numbering: "1.1")
#show heading: set block(above: 1.4em, below: 0.8em)
#show figure: set block(above: 1.3em, below: 1.3em)
#show figure.where(kind: table): set figure.caption(position: top)
#show figure.where(kind: table): set block(breakable: true)
#show figure.caption: it => block(width: 100%, sticky: it.kind == table, align(left, text(size: 9pt)[
  *#it.supplement #context it.counter.display(it.numbering).* #it.body]))
#set image(width: 100%)
#set table(stroke: none, inset: (x: 4pt, y: 2.5pt))
#set table.hline(stroke: 0.6pt)
#let kymo-table(size, sides, ..cells) = text(size: size, table(
  columns: sides.len(),
  align: (x, y) => sides.at(x) + if y == 0 { bottom } else { top },
  ..cells,
))
#let kymo-note(body) = block(width: 100%, above: 0.5em, text(size: 8pt, body))
#let kymo-notice(colour, body) = block(
  width: 100%, inset: 7pt, radius: 2pt, breakable: true, fill: colour.lighten(88%), stroke: 0.5pt + colour.darken(20%),
  body,
)
)typst";

// The semicolon ends the call, so that following brackets and parentheses are text.
std::string inline_typst(const Spans& spans) {
  return inline_text(spans, {{{"{}", escape_typst},
                              {"#emph[{}];", escape_typst},
                              {"#strong[{}];", escape_typst},
                              {"#raw({});", typst_string}}});
}

constexpr const char* kShort = "#set page(margin: 1.7cm)\n#set text(size: 9pt)\n#set image(width: 85%)\n";

constexpr const char* kMinus = "\u2212";
constexpr const char* kBreak = "\u200B";

// Converts a number formatted by kymo ("-1234.50", "1.2e-09") to its printed form.
std::string number_typst(const Column& column, const std::string& number) {
  const std::size_t e = std::min(number.find('e'), number.size());
  std::string digits = grouped_in(column, number.substr(0, e));
  if (digits.starts_with('-')) digits.replace(0, 1, kMinus);
  if (e == number.size()) return digits;
  const int exponent = std::stoi(number.substr(e + 1));
  return fmt::format("{} × 10#super[{}{}]", digits, exponent < 0 ? kMinus : "", std::abs(exponent));
}

std::string hidden(const std::string& digits) { return digits.empty() ? "" : "#hide[" + digits + "]"; }

std::string measured_typst(const Column& column, const CellText& text, const Fractions& longest) {
  std::string out = number_typst(column, text.value) + hidden(missing_fraction(text.value, longest.value));
  if (!text.uncertainty.empty()) {
    out += "~±~" + number_typst(column, text.uncertainty) +
           hidden(missing_fraction(text.uncertainty, longest.uncertainty));
  }
  if (!text.suffix.empty()) out += "~" + escape_typst(text.suffix);
  return out;
}

// Long names may break after punctuation, and very long ones anywhere. Break positions are zero-width spaces, written
// by their code point because they would be invisible in the file.
std::string with_breaks(std::string_view word) {
  constexpr std::size_t kShortWord = 16;
  constexpr int kLongestWord = 24;
  if (code_point_count(word) <= kShortWord) return std::string(word);
  std::string out;
  int unbroken = 0;
  while (!word.empty()) {
    const char32_t c = take_code_point(word);
    append_utf8(out, c);
    const bool breaks =
        std::u32string_view(U"_/,=:;").find(c) != std::u32string_view::npos || ++unbroken == kLongestWord;
    if (!breaks) continue;
    if (!word.empty()) out += kBreak;
    unbroken = 0;
  }
  return out;
}

std::string with_breaks_in_words(const std::string& text) {
  std::vector<std::string> words = split(text, ' ');
  for (std::string& word : words) word = with_breaks(word);
  return join(words, " ");
}

std::string with_written_breaks(std::string escaped) {
  for (std::size_t at = escaped.find(kBreak); at != std::string::npos; at = escaped.find(kBreak, at)) {
    escaped.replace(at, std::string_view(kBreak).size(), "\\u{200b}");
  }
  return escaped;
}

std::string cell_typst(const Column& column, const Cell& cell, bool wraps, const Fractions& longest) {
  const CellText text = cell_text(column, cell);
  if (text.numeric) return "[" + measured_typst(column, text, longest) + "]";
  const bool is_state = cell.kind == Cell::Kind::kState;
  const std::string value = wraps || is_state ? with_breaks_in_words(text.value) : text.value;
  if (is_state) return "emph[" + with_written_breaks(escape_typst(value)) + "]";
  if (column.code && cell.kind == Cell::Kind::kText && !value.empty())
    return "raw(" + with_written_breaks(typst_string(value)) + ")";
  return "[" + with_written_breaks(escape_typst(value)) + "]";
}

std::string heading(const ColumnLayout& layout) {
  std::vector<std::string> lines;
  for (const std::string& line : layout.heading)
    lines.push_back(with_written_breaks(escape_typst(with_breaks_in_words(line))));
  return "[" + join(lines, " \\ ") + "]";
}

std::string list_of(const std::vector<std::string>& words) { return "(" + join(words, ", ") + ",)"; }

std::string rows_typst(const Table& table, const TableLayout& layout) {
  std::vector<Fractions> longest;
  for (std::size_t i = 0; i < table.columns.size(); ++i) longest.push_back(fractions_of(table, i));
  std::string out;
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(cell_typst(table.columns[i], row[i], layout.columns[i].width > 0, longest[i]));
    }
    out += "    " + join(cells, ", ") + ",\n";
  }
  return out;
}

std::string notes_typst(const Table& table) {
  std::string out;
  for (const std::string& note : table.notes) out += "#kymo-note[" + inline_typst(parse_spans(note)) + "]\n";
  return out;
}

/// The table as a Typst figure with its caption and notes. Requires the rules of the report's preamble.
std::string typst_table(const Table& table) {
  const TableLayout layout = lay_out(table);
  std::vector<std::string> sides;
  std::vector<std::string> headings;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    sides.emplace_back(table.columns[i].align == Align::kRight ? "right" : "left");
    headings.push_back(heading(layout.columns[i]));
  }
  const std::string out = fmt::format(
      "#figure(kind: table, caption: [{}], kymo-table({}, {},\n    table.header(table.hline(), {}, table.hline()),\n{}"
      "    table.hline(),\n))\n{}",
      escape_typst(table.caption), layout.font == TableLayout::Font::kSmall ? "8pt" : "7pt", list_of(sides),
      join(headings, ", "), rows_typst(table, layout), notes_typst(table));
  return layout.landscape ? "#page(flipped: true)[\n" + out + "]\n" : out;
}

class TypstWriter {
 public:
  std::vector<OutputFile> write(const Document& document) {
    text_ = kFirstLine + fmt::format("#set document(title: {})\n", typst_string(document.title)) + kHead;
    if (document.is_short) text_ += kShort;
    text_ += fmt::format("\n#text(size: 17pt, weight: \"bold\")[{}]\n", escape_typst(document.title));
    for (const Block& block : document.front_matter) write_block(block);
    if (!document.is_short && document.sections.size() > 1) text_ += "\n#outline()\n";
    for (const Section& section : document.sections) {
      text_ +=
          "\n" + std::string(static_cast<std::size_t>(section.level), '=') + " " + escape_typst(section.heading) + "\n";
      for (const Block& block : section.blocks) write_block(block);
    }
    text_ += "\n#line(length: 100%, stroke: 0.4pt)\n#text(size: 8pt)[" + escape_typst(document.provenance) + "]\n";
    files_.insert(files_.begin(), {"report.typ", text_});
    return std::move(files_);
  }

 private:
  void write_block(const Block& block) {
    text_ += "\n";
    std::visit([this](const auto& each) { add(each); }, block);
  }

  void add(const Paragraph& paragraph) { text_ += inline_typst(paragraph.spans) + "\n"; }

  void add(const List& list) {
    for (const Spans& item : list.items) text_ += "- " + inline_typst(item) + "\n";
  }

  void add(const Notice& notice) {
    text_ += fmt::format("#kymo-notice({})[\n", notice.kind == Notice::Kind::kWarning ? "orange" : "gray");
    bool first = true;
    for (const auto& part : notice.prose) {
      if (!first) text_ += "\n";
      first = false;
      std::visit([this](const auto& each) { add(each); }, part);
    }
    text_ += "]\n";
  }

  void add(const Table& table) { text_ += typst_table(table); }

  void add(const Chart& chart) {
    const std::string caption = picture_caption(chart);
    files_.push_back(picture_file(chart));
    text_ += fmt::format("#figure(image({}, alt: {}), caption: [{}])\n", typst_string(files_.back().path.string()),
                         typst_string(caption), escape_typst(caption));
  }

  std::string text_;
  std::vector<OutputFile> files_;
};

}  // namespace

std::vector<OutputFile> render_typst(const Document& document) { return TypstWriter().write(document); }

}  // namespace kymo::report
