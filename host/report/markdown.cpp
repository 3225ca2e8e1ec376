// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/escape.hpp"
#include "report/number.hpp"
#include "report/prose.hpp"
#include "report/renderer.hpp"
#include "report/svg.hpp"
#include "report/timeline_picture.hpp"

namespace kymo::report {
namespace {

std::string inline_markdown(const Spans& spans) {
  // A span rarely starts at the beginning of a line, but escaping for that case is harmless.
  return inline_text(spans, {{{"{}", escape_markdown},
                              {"*{}*", escape_markdown},
                              {"**{}**", escape_markdown},
                              {"{}", [](std::string_view text) { return markdown_code(text, false); }}}});
}

std::string cell_markdown(const Column& column, const Cell& cell) {
  if (cell.kind == Cell::Kind::kText && column.code && !cell.text.empty())
    return markdown_code(cell_text(column, cell).value, true);
  return cell.is_number() ? plain_text(column, cell) : escape_markdown(plain_text(column, cell));
}

class MarkdownWriter {
 public:
  std::vector<OutputFile> write(const Document& document) {
    if (!document.title.empty()) text_ = "# " + escape_markdown(document.title) + "\n";
    for (const Block& block : document.front_matter) write_block(block);
    for (const Section& section : document.sections) {
      if (!section.heading.empty())
        text_ += "\n" + std::string(static_cast<std::size_t>(section.level) + 1, '#') + " " +
                 escape_markdown(section.heading) + "\n";
      for (const Block& block : section.blocks) write_block(block);
    }
    if (!document.provenance.empty()) text_ += "\n---\n\n" + escape_markdown(document.provenance) + "\n";
    files_.insert(files_.begin(), {"report.md", text_});
    return std::move(files_);
  }

 private:
  void write_block(const Block& block) {
    if (!text_.empty()) text_ += "\n";
    std::visit([this](const auto& each) { add(each); }, block);
  }

  void add(const Paragraph& paragraph) { text_ += inline_markdown(paragraph.spans) + "\n"; }

  void add(const List& list) {
    for (const Spans& item : list.items) text_ += "- " + inline_markdown(item) + "\n";
  }

  void add(const Notice& notice) {
    const bool caution = notice.kind == Notice::Kind::kWarning;
    text_ += caution ? "> [!WARNING]\n" : "> [!NOTE]\n";
    bool first = true;
    for (const auto& part : notice.prose) {
      if (!first) text_ += ">\n";
      first = false;
      if (const auto* paragraph = std::get_if<Paragraph>(&part))
        text_ += "> " + inline_markdown(paragraph->spans) + "\n";
      if (const auto* list = std::get_if<List>(&part)) {
        for (const Spans& item : list->items) text_ += "> - " + inline_markdown(item) + "\n";
      }
    }
  }

  void add(const Table& table) {
    if (!table.caption.empty()) text_ += fmt::format("**Table {}.** {}\n\n", ++tables_, escape_markdown(table.caption));
    text_ += "|";
    for (const Column& column : table.columns) text_ += " " + escape_markdown(column_heading(column)) + " |";
    text_ += "\n|";
    for (const Column& column : table.columns) text_ += column.align == Align::kRight ? " ---: |" : " :--- |";
    text_ += "\n";
    for (const auto& row : table.rows) {
      text_ += "|";
      for (std::size_t i = 0; i < row.size(); ++i) text_ += " " + cell_markdown(table.columns[i], row[i]) + " |";
      text_ += "\n";
    }
    for (const std::string& note : table.notes) text_ += "\n*" + inline_markdown(parse_spans(note)) + "*\n";
  }

  void add(const Chart& chart) {
    const std::string caption = escape_markdown(picture_caption(chart));
    files_.push_back(picture_file(chart));
    text_ += fmt::format("![{}]({})\n\n**Figure {}.** {}\n", caption, files_.back().path.string(), ++figures_, caption);
  }

  std::string text_;
  std::vector<OutputFile> files_;
  int tables_ = 0;
  int figures_ = 0;
};

}  // namespace

std::vector<OutputFile> render_markdown(const Document& document) { return MarkdownWriter().write(document); }

}  // namespace kymo::report
