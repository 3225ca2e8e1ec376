// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"

namespace kymo::report {

/// The table as a Typst figure with its caption and notes. Requires the rules of the report's preamble.
std::string typst_table(const Table& table);

}  // namespace kymo::report
