// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "report/document.hpp"

/// What turns a chart of the HTML report into one that can be zoomed and searched: its rows as JSON, and one script for
/// all of them.
namespace kymo::report {

inline constexpr std::size_t kMostInteractiveBars = 200'000;
inline constexpr std::size_t kMostInteractiveBlocks = 50'000;
inline constexpr std::size_t kMostInteractivePositions = 100'000;
inline constexpr unsigned kMostInteractiveRows = 40;  ///< of one lane

bool is_interactive(const Chart& chart);

/// The chart's rows as JSON that may stand in a script element: no '<' in it.
std::string interactive_rows(const Chart& chart);

/// Sentences on the rows that interactive_rows leaves out or merges; empty if there are none.
std::string interactive_notes(const Chart& chart);

}  // namespace kymo::report
