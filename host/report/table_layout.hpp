// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/document.hpp"

namespace kymo::report {

struct ColumnLayout {
  bool numeric = false;
  bool negative = false;  ///< some number is negative; the sign takes one and a half digits
  std::size_t integer_digits = 1;
  std::size_t decimals = 0;
  std::size_t uncertainty_digits = 0;
  std::size_t letters = 1;           ///< natural width
  double width = 0;                  ///< of a wrapping text column, in points; 0: natural width
  std::vector<std::string> heading;  ///< lines
};

/// Layout of a table on a printed A4 page with margins of 2 cm.
struct TableLayout {
  enum class Font { kSmall, kSmallest };  ///< 8 and 7 points

  std::vector<ColumnLayout> columns;
  Font font = Font::kSmall;
  bool landscape = false;  ///< landscape, on a page of its own
};

/// The largest font with which the table fits, in portrait if possible; texts wrap if necessary.
TableLayout lay_out(const Table& table);

}  // namespace kymo::report
