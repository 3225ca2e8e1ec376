// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/document.hpp"

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

/// A new format requires a function and one line in renderers().
struct Renderer {
  std::string format;
  std::vector<OutputFile> (*render)(const Document& document);
};
const std::vector<Renderer>& renderers();

}  // namespace kymo::report
