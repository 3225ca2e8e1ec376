// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/document.hpp"

namespace kymo::report {

/// Rows of the tables of one section that a report to hand in shows.
inline constexpr std::size_t kHandInRows = 8;

/// The report to hand in: of each section, the text, one figure, and tables of at most kHandInRows rows together. Notes
/// name the CSV files (those of render_csv of the whole document) that have the other rows. Sections that have nothing
/// but the sentence about missing data are named in one list at the end.
Document shortened_to_hand_in(Document document);

}  // namespace kymo::report
