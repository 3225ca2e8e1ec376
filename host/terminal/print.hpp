// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/output.hpp"
#include "report/text_table.hpp"
#include "store/results.hpp"

namespace kymo::terminal {

using report::kAnyWidth;
using report::output_text;
using report::table_text;
using report::TextStyle;
using report::TextTable;
using report::wrapped;
using report::wrapped_lines;

/// Writes text to standard output.
void print(const std::string& text);

/// Formats JSON, ending with a newline. Invalid UTF-8 is replaced and control characters are escaped, so that no string
/// can control a terminal.
std::string json_text(const Json& json);

/// Width of a stream: that of its terminal, otherwise COLUMNS from the environment, otherwise 100.
std::size_t output_columns(int stream = STDOUT_FILENO);

/// The style of what a command prints on standard output: in color on a terminal, unless NO_COLOR is set.
TextStyle output_style(bool wide = false, bool markdown = false);

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

/// " --db FILE" for a command to copy; empty for the default database.
std::string database_option(const std::string& file);

}  // namespace kymo::terminal
