// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/document.hpp"

namespace kymo::report {

struct ColumnLayout {
  bool numeric = false;
  bool negative = false;  ///< some number is below zero; the sign takes a digit and a half
  std::size_t integer_digits = 1;
  std::size_t decimals = 0;
  std::size_t uncertainty_digits = 0;
  std::size_t letters = 1;           ///< natural width
  double width = 0;                  ///< of a wrapping text column, in points; 0: as wide as it needs
  std::vector<std::string> heading;  ///< lines
};

/// How a table is set on a printed A4 page with margins of 2 cm.
struct TableLayout {
  enum class Font { kSmall, kSmallest };  ///< of 8 and 7 points

  std::vector<ColumnLayout> columns;
  Font font = Font::kSmall;
  bool turned = false;  ///< on a page of its own, across
};

/// The largest letters with which the table fits, upright if it does so at all; texts wrap where they must.
TableLayout lay_out(const Table& table);

}  // namespace kymo::report
