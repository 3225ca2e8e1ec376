// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"

namespace kymo::report {

/// Definitions of colors and styles for the preamble, after \usepackage{pgfplots}.
std::string pgfplots_preamble();

/// Name of a series' color as defined in the preamble.
std::string colour_name(std::size_t series);

/// The chart as one tikzpicture.
std::string pgfplots_picture(const Chart& chart);

/// The timeline as one tikzpicture.
std::string pgf_timeline(const Chart& chart);

}  // namespace kymo::report
