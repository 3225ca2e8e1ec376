// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"
#include "report/roofline_picture.hpp"

namespace kymo::report {

/// Sentences about marks beside the plot and outside of the axes; empty if there are none.
std::string roofline_notes(const Roofline& roofline);

/// `width` is that of the whole picture.
RooflinePicture roofline_picture(const Chart& chart, double width);

}  // namespace kymo::report
