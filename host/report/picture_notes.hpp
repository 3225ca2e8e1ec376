// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"

namespace kymo::report {

/// Sentences on what a picture of the chart that cannot be zoomed merges or leaves out; empty if it shows everything.
std::string picture_notes(const Chart& chart);

/// The chart's caption with those sentences.
std::string picture_caption(const Chart& chart);

}  // namespace kymo::report
