// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"

namespace kymo::report {

/// Sentences about what a static picture of the chart merges or omits; empty if it shows everything.
std::string picture_notes(const Chart& chart);

/// The chart's caption followed by those sentences.
std::string picture_caption(const Chart& chart);

}  // namespace kymo::report
