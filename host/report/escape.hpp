// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// One escaper per format. Each takes any bytes and returns text that its format prints literally and that stays on one
/// line.
namespace kymo::report {

/// Inline text of GitHub-flavoured Markdown, also inside a table cell.
std::string escape_markdown(std::string_view text);

/// A code span of Markdown; `in_table` also guards the bar.
std::string markdown_code(std::string_view text, bool in_table);

/// Text of LaTeX under OT1 fonts, also in captions, table cells and pgfplots labels. Long words may break; characters
/// that the fonts lack are printed as [U+XXXX].
std::string escape_latex(std::string_view text);

/// Text of Typst's markup.
std::string escape_typst(std::string_view text);

/// A string of Typst's code, quoted.
std::string typst_string(std::string_view text);

/// Text and attribute values of HTML and of SVG.
std::string escape_html(std::string_view text);

/// One field of CSV, quoted where needed. A text that a spreadsheet would run as a formula gets a leading apostrophe;
/// line ends stay, inside quotes.
std::string escape_csv(std::string_view text);

}  // namespace kymo::report
