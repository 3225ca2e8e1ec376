// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/utf8.hpp"
#include "report/escape.hpp"
#include "report/interactive.hpp"
#include "report/number.hpp"
#include "report/prose.hpp"
#include "report/renderer.hpp"
#include "report/svg.hpp"
#include "report/timeline_picture.hpp"

namespace kymo::report {
namespace {

// Tables of more columns are set more densely.
constexpr std::size_t kMaxRoomyColumns = 6;

std::string bytes_of_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// RFC 4648, section 4.
std::string base64(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t j = i; j < i + 3; ++j)
      bits = bits << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) out += i + j > bytes.size() ? '=' : kDigits[bits >> (18 - 6 * j) & 63u];
  }
  return out;
}

// In the zlib format, which browsers call `deflate`.
std::string compressed(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string bytes(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                             text.size(), Z_BEST_COMPRESSION);
  if (code != Z_OK) throw Error(fmt::format("cannot compress the rows of a chart: zlib error {}", code));
  bytes.resize(size);
  return bytes;
}

std::string inline_html(const Spans& spans) {
  return inline_text(spans, {{{"{}", escape_html},
                              {"<em>{}</em>", escape_html},
                              {"<strong>{}</strong>", escape_html},
                              {"<code>{}</code>", escape_html}}});
}

std::string list_html(const List& list) {
  std::string out = "<ul>\n";
  for (const Spans& item : list.items) out += "<li>" + inline_html(item) + "</li>\n";
  return out + "</ul>\n";
}

std::string invisible(const std::string& digits) {
  return digits.empty() ? "" : "<span class=\"pad\" aria-hidden=\"true\">" + digits + "</span>";
}

std::string number_html(const Column& column, const CellText& text, const Fractions& longest) {
  std::string out = grouped_in(column, text.value) + invisible(missing_fraction(text.value, longest.value));
  if (!text.uncertainty.empty()) {
    out += "<span class=\"pm\">\u00A0±\u00A0" + grouped_in(column, text.uncertainty) + "</span>" +
           invisible(missing_fraction(text.uncertainty, longest.uncertainty));
  }
  if (!text.suffix.empty()) out += "\u00A0" + escape_html(text.suffix);
  return out;
}

std::string cell_html(const Column& column, const Cell& cell, const Fractions& longest) {
  constexpr std::size_t kShort = 22;  // texts up to this length do not wrap
  const CellText text = cell_text(column, cell);
  const bool is_short = code_point_count(text.value) <= kShort;
  const std::string open = column.align == Align::kRight ? "<td class=\"num\">"
                           : is_short                    ? "<td class=\"short\">"
                                                         : "<td>";
  if (text.numeric) return open + number_html(column, text, longest) + "</td>";
  const std::string value = escape_html(text.value);
  if (cell.kind == Cell::Kind::kState) return open + "<span class=\"state\">" + value + "</span></td>";
  if (cell.kind == Cell::Kind::kAbsent) return open + "<span class=\"absent\">" + value + "</span></td>";
  return open + (column.code && !value.empty() ? "<code>" + value + "</code>" : value) + "</td>";
}

class HtmlWriter {
 public:
  std::string write(const Document& document) {
    for (const Block& block : document.front_matter) write_block(block);
    for (std::size_t i = 0; i < document.sections.size(); ++i) {
      const Section& section = document.sections[i];
      const int level = section.level + 1;
      body_ += fmt::format("<h{0} id=\"section-{1}\">{2}</h{0}>\n", level, i + 1, escape_html(section.heading));
      for (const Block& block : section.blocks) write_block(block);
    }
    return page(document);
  }

 private:
  std::string contents(const Document& document) const {
    std::string out = "<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ol>\n";
    for (std::size_t i = 0; i < document.sections.size(); ++i) {
      const Section& section = document.sections[i];
      out += fmt::format("<li{}><a href=\"#section-{}\">{}</a></li>\n", section.level > 1 ? " class=\"sub\"" : "",
                         i + 1, escape_html(section.heading));
    }
    return out + "</ol>\n</nav>\n";
  }

  std::string page(const Document& document) const {
    const std::string title = escape_html(document.title);
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
           "img-src data:; " +
           // Only the report's own script may run, identified by its hash; injected scripts are blocked.
           (interactive_ ? "script-src " + page_script_source() + "; " : "") +
           "base-uri 'none'; form-action 'none'\">\n<meta name=\"viewport\" content=\"width=device-width, "
           "initial-scale=1\">\n"
           "<link rel=\"icon\" href=\"data:,\">\n<title>" +
           title + "</title>\n<style>" + page_style() + chart_css() +
           "</style>\n</head>\n<body>\n<div class=\"layout\">\n" + contents(document) + "<main>\n<h1>" + title +
           "</h1>\n" + body_ + "<footer>" + escape_html(document.provenance) + "</footer>\n</main>\n</div>\n" +
           (interactive_ ? "<script>" + page_script() + "</script>\n" : "") + "</body>\n</html>\n";
  }

  void write_block(const Block& block) {
    std::visit([this](const auto& each) { add(each); }, block);
  }

  void add(const Paragraph& paragraph) { body_ += "<p>" + inline_html(paragraph.spans) + "</p>\n"; }
  void add(const List& list) { body_ += list_html(list); }

  void add(const Notice& notice) {
    const bool caution = notice.kind == Notice::Kind::kWarning;
    body_ +=
        caution ? "<aside class=\"notice caution\" role=\"note\">\n" : "<aside class=\"notice empty\" role=\"note\">\n";
    for (const auto& part : notice.prose) std::visit([this](const auto& each) { add(each); }, part);
    body_ += "</aside>\n";
  }

  void add(const Table& table) {
    body_ += fmt::format(
        "<figure>\n<figcaption><b>Table {}.</b> {}</figcaption>\n<div class=\"scroll\" "
        "tabindex=\"0\">\n<table{}>\n<thead><tr>",
        ++tables_, escape_html(table.caption), table.columns.size() > kMaxRoomyColumns ? " class=\"dense\"" : "");
    std::vector<Fractions> longest;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      longest.push_back(fractions_of(table, i));
      body_ += column.align == Align::kRight ? "<th scope=\"col\" class=\"num\">" : "<th scope=\"col\">";
      const std::string unit = common_unit(column);
      body_ += escape_html(column.title) +
               (unit.empty() ? "" : "<span class=\"unit\">" + escape_html(unit) + "</span>") + "</th>";
    }
    body_ += "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows) {
      body_ += "<tr>";
      for (std::size_t i = 0; i < row.size(); ++i) body_ += cell_html(table.columns[i], row[i], longest[i]);
      body_ += "</tr>\n";
    }
    body_ += "</tbody>\n</table>\n</div>\n";
    for (const std::string& note : table.notes)
      body_ += "<p class=\"note\">" + inline_html(parse_spans(note)) + "</p>\n";
    if (!table.query.empty())
      body_ += "<details><summary>Query</summary><pre>" + query_html(table.query) + "</pre></details>\n";
    body_ += "</figure>\n";
  }

  void add(const Chart& chart) {
    body_ +=
        "<figure class=\"chart\">\n" +
        (is_interactive(chart) ? chart_box(chart) : "<div class=\"kymo-picture\">\n" + inline_svg(chart) + "</div>\n");
    body_ += fmt::format(
        "<figcaption><b>Figure {}.</b> {}</figcaption>\n</figure>\n", ++figures_,
        escape_html(is_interactive(chart) ? chart.caption + interactive_notes(chart) : picture_caption(chart)));
  }

  // The static picture is shown in print and without JavaScript.
  std::string chart_box(const Chart& chart) {
    interactive_ = true;
    const std::string notes = picture_notes(chart);
    return "<div class=\"kymo-chart-box\">\n<div class=\"kymo-picture\">\n" + inline_svg(chart) +
           (notes.empty() ? "" : "<p class=\"note\">" + escape_html(notes) + "</p>\n") +
           "</div>\n<script type=\"application/zlib\">" + base64(compressed(interactive_rows(chart))) + "</script>\n" +
           files_of(chart) + "</div>\n";
  }

  static std::string files_of(const Chart& chart) {
    std::string out;
    for (std::size_t i = 0; i < chart.attachments.size(); ++i) {
      const std::string& content = chart.attachments[i].content;
      if (content.empty()) continue;
      out += fmt::format("<script type=\"application/zlib\" data-file=\"{}\">{}</script>\n", i,
                         base64(compressed(content)));
    }
    return out;
  }

  // Line by line, because the escaper joins all lines.
  static std::string query_html(std::string_view query) {
    std::string out;
    while (!query.empty()) {
      const std::size_t end = std::min(query.find('\n'), query.size());
      out += escape_html(query.substr(0, end)) + "\n";
      query.remove_prefix(std::min(end + 1, query.size()));
    }
    return out;
  }

  std::string body_;
  int tables_ = 0;
  int figures_ = 0;
  bool interactive_ = false;
};

}  // namespace

std::string page_script_source() { return "'sha256-" + base64(bytes_of_hex(sha256(page_script()))) + "'"; }

std::vector<OutputFile> render_html(const Document& document) {
  return {{"report.html", HtmlWriter().write(document)}};
}

}  // namespace kymo::report
