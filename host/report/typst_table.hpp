// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"

namespace kymo::report {

/// The table as a figure of Typst, with its caption and notes. Needs the rules of the report's head.
std::string typst_table(const Table& table);

}  // namespace kymo::report
