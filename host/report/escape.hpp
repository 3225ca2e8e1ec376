// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// One escaper per format. Each accepts arbitrary bytes and returns text that the format prints literally and that
/// stays on one line.
namespace kymo::report {

/// Inline text of GitHub Flavored Markdown, also inside a table cell.
std::string escape_markdown(std::string_view text);

/// A code span of Markdown; `in_table` also escapes the vertical bar.
std::string markdown_code(std::string_view text, bool in_table);

/// LaTeX text for OT1 fonts, also in captions, table cells and pgfplots labels. Long words may break; characters
/// missing from the fonts are printed as [U+XXXX].
std::string escape_latex(std::string_view text);

/// Text of Typst markup.
std::string escape_typst(std::string_view text);

/// A quoted string literal of Typst code.
std::string typst_string(std::string_view text);

/// Text and attribute values of HTML and SVG.
std::string escape_html(std::string_view text);

/// One CSV field, quoted if needed. A text that a spreadsheet would interpret as a formula gets a leading apostrophe;
/// line breaks are preserved inside quotes.
std::string escape_csv(std::string_view text);

}  // namespace kymo::report
