// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"

namespace kymo::report {

/// Colours and styles that the pictures use; for the preamble, after \usepackage{pgfplots}.
std::string pgfplots_preamble();

/// Name of a series' colour, as the preamble defines it.
std::string colour_name(std::size_t series);

/// The chart as one tikzpicture.
std::string pgfplots_picture(const Chart& chart);

}  // namespace kymo::report
