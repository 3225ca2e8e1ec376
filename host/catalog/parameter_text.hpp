// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "catalog/catalog.hpp"

namespace kymo::catalog {

/// Parses a value as written on the command line. Throws UsageError with the parameter, the value and the allowed
/// values.
measure::Value parse_value(const Parameter& parameter, const std::string& text);

/// Checks a value against type, bounds and choices; throws UsageError.
void check_value(const Parameter& parameter, const measure::Value& value);

}  // namespace kymo::catalog
