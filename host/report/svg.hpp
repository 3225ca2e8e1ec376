// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"
#include "report/renderer.hpp"

namespace kymo::report {

/// The chart as one <svg> element to be placed in an HTML page that carries chart_css().
std::string inline_svg(const Chart& chart);

/// The chart as an SVG file that follows the reader's light or dark scheme by itself.
std::string standalone_svg(const Chart& chart);

/// That file, in the one place that it has in every report.
OutputFile picture_file(const Chart& chart);

/// Rules that turn the charts of a page dark when its reader prefers that. Light colours are attributes, so that simple
/// viewers need no CSS.
std::string chart_css();

}  // namespace kymo::report
