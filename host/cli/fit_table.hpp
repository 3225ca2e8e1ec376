// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/text_table.hpp"

/// Tables that fit the width of a terminal, and the same tables as Markdown. Pure functions, except output_columns().
namespace kymo::cli {

/// Width of standard output: that of its terminal, otherwise COLUMNS from the environment, otherwise 100.
std::size_t output_columns();

/// Leaves out optional columns until the lines have at most `columns` characters, and then shortens the cells of the
/// widest left-aligned columns, as shortened_apart() does. Returns the names of the columns that were left out.
std::vector<std::string> fit(TextTable& table, std::size_t columns);

/// The table as a pipe table of GitHub Flavored Markdown.
std::string markdown(const TextTable& table);

/// Shortens a text of one line to `columns` characters; a shortened text ends with an ellipsis.
std::string shortened(const std::string& text, std::size_t columns);

/// Replaces the middle of texts of one line that are longer than `columns` characters (at least 8) by an ellipsis.
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
