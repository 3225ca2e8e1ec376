// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

/// Tables and texts that fit the width of a terminal. Pure functions.
namespace kymo::report {

inline constexpr std::size_t kTextGap = 2;  ///< between two columns of a table
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

/// How a document or a table is printed.
struct TextStyle {
  bool wide = false;      ///< every setting and result, whatever the width
  bool markdown = false;  ///< for a pull request, whatever the width
  bool colour = false;
  std::size_t columns = 100;  ///< maximum width of a line

  /// Lines of text in this width.
  std::string text(const std::string& lines) const { return wide || markdown ? lines : wrapped_lines(lines, columns); }
};

/// The table in this style and, if columns do not fit, a line that names them and the option that shows them (--wide).
std::string table_text(const TextTable& table, const TextStyle& style);

/// Leaves out optional columns until the lines have at most `columns` columns of a terminal, and then shortens the
/// cells of the widest left-aligned columns, as shortened_apart() does. Left-aligned columns without which two rows
/// would look the same stay. Returns the names of the columns that were left out.
std::vector<std::string> fit(TextTable& table, std::size_t columns);

/// Whether the lines of the table, as fit() left it, have at most `columns` columns.
bool fits(const TextTable& table, std::size_t columns);

/// Replaces the middle of texts of one line that are wider than `columns` (at least 8) by an ellipsis.
/// Texts that differ stay different: where they differ is shown, or, if that does not suffice, they are longer.
std::vector<std::string> shortened_apart(const std::vector<std::string>& texts, std::size_t columns);

}  // namespace kymo::report
