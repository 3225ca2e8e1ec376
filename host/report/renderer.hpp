// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/document.hpp"
#include "report/text_table.hpp"

namespace kymo::report {

struct OutputFile {
  std::filesystem::path path;  ///< relative to the report's folder
  std::string content;
};

/// How a format prints text in one style: a format string with {} for the text, and the function that escapes it.
struct InlineStyle {
  const char* format;
  std::string (*escape)(std::string_view text);
};
/// The text of a paragraph; the styles are in the order of Style.
std::string inline_text(const Spans& spans, const std::array<InlineStyle, 4>& styles);

// Each renders a document to the files of one format, the main file first. Pictures shared by two formats are the same
// files.
std::vector<OutputFile> render_markdown(const Document& document);
std::vector<OutputFile> render_latex(const Document& document);
std::vector<OutputFile> render_typst(const Document& document);
std::vector<OutputFile> render_html(const Document& document);
std::vector<OutputFile> render_csv(const Document& document);
std::vector<OutputFile> render_text(const Document& document);
/// Throws UsageError if Typst is not installed, which render_pdf() runs.
void require_typst();
std::vector<OutputFile> render_pdf(const Document& document);

/// The text of a document for a terminal, or in Markdown if the style asks for it.
std::string text_of(const Document& document, const TextStyle& style);

/// A table as texts, for a terminal.
TextTable text_table(const Table& table);

/// Whether all tables of a document fit the width, after columns are omitted.
bool fits(const Document& document, const TextStyle& style);

/// A new format requires a function and one line in renderers().
struct Renderer {
  std::string format;
  std::vector<OutputFile> (*render)(const Document& document);
};
const std::vector<Renderer>& renderers();

}  // namespace kymo::report
