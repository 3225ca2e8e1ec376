// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "report/document.hpp"

/// A query file: its statement, and in its header comment what it shows and how.
namespace kymo::report {

/// Display options of one query column.
struct ColumnSpec {
  std::optional<std::string> title;  ///< {NAME} is the text of another column, which is not shown, in the first row
  std::string unit;                  ///< {NAME}: that of each cell is the text of another column, which is not shown
  std::optional<Align> align;
  NumberFormat format;
  bool code = false;
  std::string plus_minus;  ///< column with the uncertainty, which is not shown separately
  bool spread = false;     ///< cells are JSON objects, of which each member is a column
  bool hidden = false;     ///< used only for ordering or splitting
  bool optional = false;   ///< not shown if every row has NULL
  bool once = false;       ///< moved to the caption if all rows contain the same text
  std::string note;        ///< printed below tables that show the column
  int omit = 0;            ///< as in Column
  std::string to;          ///< column with the end of a range, which is not shown separately
};

/// Turns the values of a column into columns of a table: see pivot().
struct PivotSpec {
  std::string headings;             ///< column whose values become headings; NULL: the row has no cell
  std::vector<std::string> values;  ///< columns with the cells; their titles contain {} for the heading
  std::string order;                ///< column of numbers that orders the headings; empty: as in the rows
};

/// A query and the documentation in its header comment.
struct QueryFile {
  std::string name;  ///< file name, for messages
  std::string sql;   ///< with the queries of `with` that it reads
  std::string caption;
  std::string empty;  ///< sentence to print if there are no rows
  std::vector<std::string> notes;
  std::map<std::string, ColumnSpec> columns;
  std::optional<PivotSpec> pivot;  ///< only for tables
  std::string output_name;         ///< stem of the names of output files; empty: that of the query file
  bool wraps = false;              ///< as in Table
};

std::map<std::string, ColumnSpec> parse_columns(const Json* table, const std::string& location);

/// Parses a query, whose header comment may lack a caption.
QueryFile parse_header(const std::string& text, const std::string& name);

/// Throws UsageError for a query without a caption or a sentence for empty results.
void check_described(const QueryFile& query);

/// Parses a query with its header comment, which must contain a caption and a sentence for empty results; `name` is
/// used in messages.
QueryFile parse_query(const std::string& text, const std::string& name);

}  // namespace kymo::report
