// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "report/interactive_blocks.hpp"

/// Data for the interactive charts of the HTML report, which can be zoomed and searched: their rows as JSON. One script
/// handles all charts. It and the style sheet are compiled in from the files in host/report/page.
namespace kymo::report {

inline constexpr std::size_t kMaxInteractiveBars = 200'000;
inline constexpr std::size_t kMaxInteractivePositions = 200'000;
inline constexpr unsigned kMaxInteractiveRows = 40;  ///< per lane

bool is_interactive(const Chart& chart);

/// The chart's rows as JSON.
std::string interactive_rows(const Chart& chart);

/// Sentences about the rows that interactive_rows() omits or merges; empty if there are none.
std::string interactive_notes(const Chart& chart);

/// The content of the <style> element.
const std::string& page_style();

/// The content of the <script> element.
const std::string& page_script();

/// The script's hash as a source expression of a Content-Security-Policy: 'sha256-…'.
std::string page_script_source();

}  // namespace kymo::report
