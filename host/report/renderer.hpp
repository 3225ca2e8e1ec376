// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "report/document.hpp"

namespace kymo::report {

struct OutputFile {
  std::filesystem::path path;  ///< relative to the report's folder
  std::string content;
};

/// Renders a document to the files of one format, the main file first. Pictures shared by two formats are the same
/// files. A new format requires a new Renderer and one line in renderers().
class Renderer {
 public:
  virtual ~Renderer() = default;
  virtual std::string format() const = 0;
  virtual std::vector<OutputFile> render(const Document& document) const = 0;
};

std::unique_ptr<Renderer> make_markdown_renderer();
std::unique_ptr<Renderer> make_latex_renderer();
std::unique_ptr<Renderer> make_typst_renderer();
std::unique_ptr<Renderer> make_html_renderer();
std::unique_ptr<Renderer> make_csv_renderer();

/// The renderers of all formats.
const std::vector<std::unique_ptr<Renderer>>& renderers();

}  // namespace kymo::report
