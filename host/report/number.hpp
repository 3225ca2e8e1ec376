// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "report/document.hpp"

namespace kymo::report {

/// Format-independent content of a cell.
struct CellText {
  std::string value;        ///< raw text, or an ASCII number such as "-1234.50" or "1.2e-09"
  std::string uncertainty;  ///< an ASCII number as well, or empty
  bool numeric = false;
  std::string suffix;  ///< unit of this cell only ("GiB")
};

/// An SI unit without its prefix: "ms" is 0.001 s.
struct BaseUnit {
  std::string name;
  double factor = 1;
};

/// Splits a time in seconds, a number of bytes or floating-point operations, per second or not, or the number 1, whose
/// name is empty, into prefix and unit. nullopt for other units.
std::optional<BaseUnit> base_unit(std::string_view unit);

/// A value with the SI prefix that suits it: "12.3 GFLOP/s".
std::string prefixed(double value, const NumberFormat& format, const std::string& unit);

CellText cell_text(const Column& column, const Cell& cell);

/// Largest half-width of a confidence interval, relative to its mean or median, with which that says something. Views
/// repeat it (run_warning).
inline constexpr double kMaxHalfWidth = 0.5;

/// The half-width of an interval, relative to its center: "± 0.6 %" or, above kMaxHalfWidth, "± 211 % (not
/// reproducible)".
std::string half_width_text(double share);

/// Formats a number with `significant` digits; with an exponent below 1e-6 and from 1e15 on.
std::string significant_text(double value, int significant);

/// The same with at most `significant` digits, without zeros at the end.
std::string general_text(double value, int significant);

/// Narrow no-break space.
inline constexpr std::string_view kThinSpace = "\u202F";

/// Inserts `separator` between groups of three digits of the integer part, if it has at least five digits.
std::string grouped(std::string_view number, std::string_view separator = kThinSpace);

/// The same, unless the column disables digit grouping.
std::string grouped_in(const Column& column, std::string_view number);

/// Number of digits after the decimal point, without the exponent.
std::size_t decimals_of(std::string_view number);

/// The cell on one line for Markdown, HTML and prose, without escaping: "12.34 ± 0.05", "OOM", "–".
std::string plain_text(const Column& column, const Cell& cell);

/// The longest fractions (including the decimal point) of a column's values and uncertainties, used to align decimal
/// points. Numbers with units of their own do not count: their decimal points are not aligned. At most 4, because
/// columns with numbers of very different magnitude would become too wide.
struct Fractions {
  std::size_t value = 0;
  std::size_t uncertainty = 0;
};
Fractions fractions_of(const Table& table, std::size_t column);

/// Invisible padding after a number that aligns its decimal point with a fraction of `longest` characters: ".00", "0".
std::string missing_fraction(std::string_view number, std::size_t longest);

/// The unit of all cells of a column; empty if there is none or each cell has its own.
std::string common_unit(const Column& column);

/// "mean (ms)".
std::string column_heading(const Column& column);

}  // namespace kymo::report
