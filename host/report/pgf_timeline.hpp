// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"

namespace kymo::report {

/// The timeline as one tikzpicture.
std::string pgf_timeline(const Chart& chart);

}  // namespace kymo::report
