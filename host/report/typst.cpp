// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/escape.hpp"
#include "report/picture_notes.hpp"
#include "report/renderer.hpp"
#include "report/svg.hpp"
#include "report/typst_table.hpp"

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
  std::string out;
  for (const Span& span : spans) {
    switch (span.style) {
      case Style::kPlain:
        out += escape_typst(span.text);
        break;
      case Style::kEmphasis:
        out += "#emph[" + escape_typst(span.text) + "];";
        break;
      case Style::kStrong:
        out += "#strong[" + escape_typst(span.text) + "];";
        break;
      case Style::kCode:
        out += "#raw(" + typst_string(span.text) + ");";
        break;
    }
  }
  return out;
}

class TypstWriter {
 public:
  std::vector<OutputFile> write(const Document& document) {
    text_ = kFirstLine + fmt::format("#set document(title: {})\n", typst_string(document.title)) + kHead;
    text_ += fmt::format("\n#text(size: 17pt, weight: \"bold\")[{}]\n", escape_typst(document.title));
    for (const Block& block : document.front_matter) write_block(block);
    if (document.sections.size() > 1) text_ += "\n#outline()\n";
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
    text_ += fmt::format("#figure(image({}, width: 100%, alt: {}), caption: [{}])\n",
                         typst_string(files_.back().path.string()), typst_string(caption), escape_typst(caption));
  }

  std::string text_;
  std::vector<OutputFile> files_;
};

class TypstRenderer final : public Renderer {
 public:
  std::string format() const override { return "typst"; }
  std::vector<OutputFile> render(const Document& document) const override { return TypstWriter().write(document); }
};

}  // namespace

std::unique_ptr<Renderer> make_typst_renderer() { return std::make_unique<TypstRenderer>(); }

}  // namespace kymo::report
