// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>

#include "base/utf8.hpp"
#include "report/number.hpp"
#include "report/prose.hpp"
#include "report/renderer.hpp"
#include "report/timeline_picture.hpp"

namespace kymo::report {
namespace {

/// With the spaces that a user can type, and without separators of thousands.
std::string typed_spaces(std::string_view text) {
  std::string typed;
  while (!text.empty()) {
    const char32_t point = take_code_point(text);
    if (point == U'\u00A0')
      typed += ' ';
    else if (point != U'\u202F')
      append_utf8(typed, point);
  }
  return typed;
}

std::string plain(const Spans& spans) {
  std::string text;
  for (const Span& span : spans) text += span.text;
  return visible(text);
}

std::string cell_of(const Column& column, const Cell& cell) {
  if (cell.kind == Cell::Kind::kAbsent) return "";
  return cell.is_number() ? typed_spaces(plain_text(column, cell)) : cell.text;
}

}  // namespace

TextTable text_table(const Table& table) {
  TextTable text;
  text.wraps = table.wraps;
  for (const Column& column : table.columns) {
    text.header.push_back(column_heading(column));
    text.right.push_back(column.align == Align::kRight);
    text.optional.push_back(column.omit);
  }
  for (const auto& row : table.rows) {
    text.rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) text.rows.back().push_back(cell_of(table.columns[i], row[i]));
  }
  return text;
}

bool fits(const Document& document, const TextStyle& style) {
  if (style.wide || style.markdown) return true;
  for (const Section& section : document.sections) {
    for (const Block& block : section.blocks) {
      const auto* table = std::get_if<Table>(&block);
      if (table == nullptr) continue;
      TextTable fitted = text_table(*table);
      fit(fitted, style.columns);
      if (!fits(fitted, style.columns)) return false;
    }
  }
  return true;
}

namespace {

class TextWriter {
 public:
  explicit TextWriter(const TextStyle& style) : style_(style) {}

  std::string write(const Document& document) {
    add_heading(document.title, '=');
    for (const Block& block : document.front_matter) write_block(block);
    for (const Section& section : document.sections) {
      if (section.heading.empty() && section.blocks.empty()) continue;
      if (!section.joined) follows_table_ = false;
      add_heading(section.heading, '-');
      for (const Block& block : section.blocks) write_block(block);
    }
    if (!document.provenance.empty()) text_ += "\n" + lines(visible(document.provenance));
    return std::move(text_);
  }

 private:
  void add_heading(const std::string& heading, char rule) {
    if (heading.empty()) return;
    const std::string text = visible(heading);
    text_ += (text_.empty() ? "" : "\n") + text + "\n" + std::string(display_width(text), rule) + "\n";
    follows_table_ = false;
  }

  /// Blocks are separated by a blank line; lists belong to the table before them.
  void write_block(const Block& block) {
    const bool is_list = std::holds_alternative<List>(block);
    if (!text_.empty() && !(is_list && follows_table_)) text_ += "\n";
    std::visit([this](const auto& each) { add(each); }, block);
    follows_table_ = is_list || std::holds_alternative<Table>(block);
  }

  std::string lines(const std::string& text) const { return typed_spaces(style_.text(text)) + "\n"; }

  void add(const Paragraph& paragraph) { text_ += lines(plain(paragraph.spans)); }

  void add(const List& list) {
    static constexpr std::string_view kWarning = "warning";
    for (const Spans& item : list.items) {
      const std::string text = lines(plain(item));
      const bool paint = style_.colour && text.starts_with(kWarning);
      text_ += paint ? "\033[33m" + std::string(kWarning) + "\033[0m" + text.substr(kWarning.size()) : text;
    }
  }

  void add(const Notice& notice) {
    for (const auto& part : notice.prose) std::visit([this](const auto& each) { add(each); }, part);
  }

  void add(const Table& table) {
    if (!table.caption.empty())
      text_ += lines("Table " + std::to_string(++tables_) + ". " + visible(table.caption)) + "\n";
    text_ += table_text(text_table(table), style_);
    for (const std::string& note : table.notes) text_ += lines(plain(parse_spans(note)));
  }

  /// Pictures have no text; their captions say what they show, and their queries are those of tables.
  void add(const Chart& chart) {
    text_ += lines("Figure " + std::to_string(++figures_) + ". " + visible(picture_caption(chart)));
  }

  const TextStyle& style_;
  std::string text_;
  bool follows_table_ = false;
  int tables_ = 0, figures_ = 0;
};

}  // namespace

std::string text_of(const Document& document, const TextStyle& style) {
  return style.markdown ? typed_spaces(render_markdown(document).front().content) : TextWriter(style).write(document);
}

std::vector<OutputFile> render_text(const Document& document) { return {{"report.txt", text_of(document, {})}}; }

}  // namespace kymo::report
