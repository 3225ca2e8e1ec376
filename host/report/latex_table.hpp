// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"

namespace kymo::report {

/// The table with its caption and notes: booktabs rules, siunitx columns, several pages if it is long, landscape if it
/// is wide.
std::string latex_table(const Table& table);

}  // namespace kymo::report
