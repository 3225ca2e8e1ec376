// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "catalog/catalog.hpp"

namespace kymo::catalog {

/// Reads a value as it is written on the command line; throws UsageError naming parameter, value and what is admitted.
measure::Value parse_value(const Parameter& parameter, const std::string& text);

/// Checks a value against type, bounds and choices; throws UsageError.
void check_value(const Parameter& parameter, const measure::Value& value);

}  // namespace kymo::catalog
