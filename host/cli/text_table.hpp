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
  std::vector<bool> right;  ///< columns aligned to the right; missing entries mean left
  std::vector<std::vector<std::string>> rows;
};

/// The table as lines. Control characters in cells are made visible, so that stored text cannot steer a terminal;
/// with `colour`, the words that tell how a run or a comparison ended are coloured.
std::string render(const TextTable& table, bool colour);

/// JSON for people and programs, ending with a newline; text that is no UTF-8 is replaced, and no string can steer a
/// terminal.
std::string json_text(const Json& json);

/// True if standard output is a terminal and NO_COLOR is not set.
bool colour_on_stdout();

/// A query's result for a terminal, as JSON (an array of objects), and as CSV (RFC 4180; text that a spreadsheet would
/// take for a formula is prefixed with ').
std::string render_rows(const store::ResultsDatabase::Table& table);
std::string rows_to_json(const store::ResultsDatabase::Table& table);
std::string rows_to_csv(const store::ResultsDatabase::Table& table);

}  // namespace kymo::cli
