// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/text.hpp"
#include "store/results.hpp"

namespace kymo::cli {

inline constexpr std::size_t kColumnGap = 2;  ///< between two columns of a table
inline constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

/// Breaks a text between words into lines of at most `columns` columns of a terminal. The first line begins with
/// `prefix`, the others with `indent` spaces [the width of the prefix]. A word that does not fit beside that
/// indentation begins further to the left; one that is longer than a line is broken, unless it contains a '/' and may
/// be a path.
std::string wrapped(const std::string& prefix, const std::string& text, std::size_t columns,
                    std::size_t indent = kAnyWidth);

/// Wraps those lines of a text that are longer than `columns`; the rest of a line is indented by two more columns.
std::string wrapped_lines(const std::string& text, std::size_t columns);

/// Columns of text, aligned for a terminal.
struct TextTable {
  std::vector<std::string> header;
  std::vector<bool> right;  ///< right-aligned columns; missing entries mean left-aligned
  std::vector<std::vector<std::string>> rows;
  /// Columns that fit() may leave out, those with the largest number first; 0 or missing: never left out.
  std::vector<int> optional = {};
  bool wraps = false;  ///< the last column is text of any length, which render() wraps
};

/// Formats the table as lines. Control characters in cells are escaped, so that stored text cannot control a terminal.
/// With `colour`, status and verdict words are colored.
std::string render(const TextTable& table, bool colour, std::size_t columns = kAnyWidth);

/// Each row as lines with the names and the values of its columns, for tables that are wider than `columns`.
std::string render_lists(const TextTable& table, std::size_t columns);

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
/// so it is limited to kMaxTextRows rows, and if it is wider than `columns`, each row becomes a list of its values.
class RowPrinter {
 public:
  static constexpr std::size_t kMaxTextRows = 10'000;

  using Print = std::function<void(const std::string&)>;
  RowPrinter(RowFormat format, Print print, std::size_t columns = kAnyWidth)
      : format_(format), print_(std::move(print)), columns_(columns) {}

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
  std::size_t columns_;
  std::vector<std::string> names_;
  TextTable text_;
  bool first_ = true;
  bool complete_ = true;
};

/// Prints the result of a query on standard output. Up to 64 MiB are read before anything is printed, because a reader
/// of standard output that pauses, such as a pager, must not keep the database locked for writers. Larger results are
/// printed while they are read.
void print_query(const store::ResultsDatabase& database, const std::string& sql, RowFormat format, std::size_t columns);

}  // namespace kymo::cli
