// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/text_table.hpp"

/// Tables that fit the width of a terminal, and the same tables as Markdown. Pure functions, except output_columns().
namespace kymo::cli {

/// Width of a stream: that of its terminal, otherwise COLUMNS from the environment, otherwise 100.
std::size_t output_columns(int stream = STDOUT_FILENO);

struct TableStyle {
  bool wide = false;      ///< every setting and result, whatever the width
  bool markdown = false;  ///< for a pull request, whatever the width
  bool colour = false;
  std::size_t columns = 100;  ///< maximum width of a line

  /// Lines of text in this width.
  std::string text(const std::string& lines) const { return wide || markdown ? lines : wrapped_lines(lines, columns); }
};

/// The style of what a command prints on standard output.
TableStyle output_style(bool wide = false, bool markdown = false);

/// The table in this style and, if columns do not fit, a line that names them and the option that shows them (--wide).
std::string table_text(const TextTable& table, const TableStyle& style);

/// Leaves out optional columns until the lines have at most `columns` columns of a terminal, and then shortens the
/// cells of the widest left-aligned columns, as shortened_apart() does. Left-aligned columns without which two rows
/// would look the same stay. Returns the names of the columns that were left out.
std::vector<std::string> fit(TextTable& table, std::size_t columns);

/// Whether the lines of the table, as fit() left it, have at most `columns` columns.
bool fits(const TextTable& table, std::size_t columns);

/// The table as a pipe table of GitHub Flavored Markdown.
std::string markdown(const TextTable& table);

/// Replaces the middle of texts of one line that are wider than `columns` (at least 8) by an ellipsis.
/// Texts that differ stay different: where they differ is shown, or, if that does not suffice, they are longer.
std::vector<std::string> shortened_apart(const std::vector<std::string>& texts, std::size_t columns);

/// Builds the columns of a table from its rows, and drops columns without information.
class TableBuilder {
 public:
  explicit TableBuilder(std::size_t rows) : rows_(rows) {}

  using CellOf = std::function<std::string(std::size_t row)>;
  /// A column that is dropped if all of its cells are empty.
  void add(const std::string& name, bool right, int optional, const CellOf& cell);
  /// A column that is also dropped if all of its cells are equal.
  void add_if_different(const std::string& name, bool right, int optional, const CellOf& cell);

  TextTable table() const;

 private:
  struct Column {
    std::string name;
    bool right = false;
    int optional = 0;  // as in TextTable::optional
    std::vector<std::string> cells;
  };
  std::size_t rows_;
  std::vector<Column> columns_;
};

}  // namespace kymo::cli
