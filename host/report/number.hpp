// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/document.hpp"

namespace kymo::report {

/// A cell's content before a format dresses it up.
struct CellText {
  std::string value;        ///< raw text, or an ASCII number such as "-1234.50" or "1.2e-09"
  std::string uncertainty;  ///< likewise, or empty
  bool numeric = false;
  std::string suffix;  ///< unit that belongs to this cell alone ("GiB")
};

CellText cell_text(const Column& column, const Cell& cell);

/// A number with as many decimals as `significant` digits need; an exponent below 1e-6 and from 1e15 on.
std::string significant_text(double value, int significant);

/// Narrow, and no line breaks there.
inline constexpr std::string_view kThinSpace = "\u202F";

/// Puts `separator` between groups of three digits of the integer part, from five digits on.
std::string grouped(std::string_view number, std::string_view separator = kThinSpace);

/// The same, unless the column's digits are never grouped.
std::string grouped_in(const Column& column, std::string_view number);

/// Digits behind the decimal point, without the exponent.
std::size_t decimals_of(std::string_view number);

/// The cell on one line as Markdown, HTML and prose write it, without escaping: "12.34 ± 0.05", "OOM", "–".
std::string plain_text(const Column& column, const Cell& cell);

/// The longest fractions of a column, each with its decimal point, in its values and in their uncertainties: what
/// brings decimal points below each other. At most 4, since where sizes differ by powers of ten the longest would tear
/// the rest apart.
struct Fractions {
  std::size_t value = 0;
  std::size_t uncertainty = 0;
};
Fractions fractions_of(const Table& table, std::size_t column);

/// What must stand invisibly behind a number to bring its decimal point below that of a fraction of `longest`
/// characters: ".00", "0".
std::string missing_fraction(std::string_view number, std::size_t longest);

/// "mean (ms)".
std::string column_heading(const Column& column);

}  // namespace kymo::report
