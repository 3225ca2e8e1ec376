// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/text.hpp"
#include "store/results.hpp"

namespace kymo::cli {

/// Columns of text, aligned for a terminal.
struct TextTable {
  std::vector<std::string> header;
  std::vector<bool> right;  ///< right-aligned columns; missing entries mean left-aligned
  std::vector<std::vector<std::string>> rows;
  /// Columns that fit() may leave out, those with the largest number first; 0 or missing: never left out.
  std::vector<int> optional = {};
};

/// Formats the table as lines. Control characters in cells are escaped, so that stored text cannot control a terminal.
/// With `colour`, status and verdict words are colored.
std::string render(const TextTable& table, bool colour);

/// Writes text to standard output.
void print(const std::string& text);

/// Formats JSON, ending with a newline. Invalid UTF-8 is replaced and control characters are escaped, so that no string
/// can control a terminal.
std::string json_text(const Json& json);

/// True if standard output is a terminal and NO_COLOR is not set.
bool colour_on_stdout();

/// A row of a query as an object; NULL becomes null.
Json json_row(const std::vector<std::string>& columns, const std::vector<store::ResultsDatabase::Cell>& cells);

/// kText rounds numbers to six significant digits; the other formats are exact.
enum class RowFormat { kText, kRawText, kJson, kCsv };

/// Prints the result of a query as terminal text, as JSON (an array of objects) or as CSV (RFC 4180; text that a
/// spreadsheet would interpret as a formula is prefixed with '). JSON and CSV are written row by row; text is aligned,
/// so it is limited to kMaxTextRows rows.
class RowPrinter {
 public:
  static constexpr std::size_t kMaxTextRows = 10'000;

  using Print = std::function<void(const std::string&)>;
  RowPrinter(RowFormat format, Print print) : format_(format), print_(std::move(print)) {}

  void columns(const std::vector<std::string>& names);
  /// Returns false if no more rows are printed.
  bool row(const std::vector<store::ResultsDatabase::Cell>& cells);
  void finish();
  bool is_complete() const { return complete_; }

 private:
  bool is_text() const { return format_ == RowFormat::kText || format_ == RowFormat::kRawText; }
  void add_text(const std::vector<store::ResultsDatabase::Cell>& cells);

  RowFormat format_;
  Print print_;
  std::vector<std::string> names_;
  TextTable text_;
  bool first_ = true;
  bool complete_ = true;
};

/// Prints the result of a query on standard output. Up to 64 MiB are read before anything is printed, because a reader
/// of standard output that pauses, such as a pager, must not keep the database locked for writers. Larger results are
/// printed while they are read.
void print_query(const store::ResultsDatabase& database, const std::string& sql, RowFormat format);

}  // namespace kymo::cli
