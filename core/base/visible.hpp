// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kymo {

/// The text as one line that cannot steer a terminal: control characters, marks that reorder text, and bytes that are
/// no UTF-8 become escapes such as \n, \x1b and \u202e.
std::string visible(std::string_view text);

/// JSON text in which these characters, which can only stand in its strings, are written as JSON escapes.
std::string visible_json(std::string_view json);

}  // namespace kymo
