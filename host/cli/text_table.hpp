// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/visible.hpp"
#include "store/results.hpp"

namespace kymo::cli {

/// Columns of text, aligned for a terminal.
struct TextTable {
  std::vector<std::string> header;
  std::vector<bool> right;  ///< right-aligned columns; missing entries mean left-aligned
  std::vector<std::vector<std::string>> rows;
};

/// Formats the table as lines. Control characters in cells are escaped, so that stored text cannot control a terminal.
/// With `colour`, status and verdict words are colored.
std::string render(const TextTable& table, bool colour);

/// Formats JSON, ending with a newline. Invalid UTF-8 is replaced and control characters are escaped, so that no string
/// can control a terminal.
std::string json_text(const Json& json);

/// True if standard output is a terminal and NO_COLOR is not set.
bool colour_on_stdout();

/// A query result as terminal text, as JSON (an array of objects) and as CSV (RFC 4180; text that a spreadsheet would
/// interpret as a formula is prefixed with ').
std::string render_rows(const store::ResultsDatabase::Table& table);
std::string rows_to_json(const store::ResultsDatabase::Table& table);
std::string rows_to_csv(const store::ResultsDatabase::Table& table);

}  // namespace kymo::cli
