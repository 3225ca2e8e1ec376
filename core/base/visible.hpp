// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kymo {

/// Returns true for control characters, of which terminals also interpret those in U+0080–U+009F, for line separators
/// and for invisible characters that change the direction of text, which can make one name look like another.
bool is_unsafe_to_print(char32_t code_point);

/// Returns the text as one line that is safe to print on a terminal: control characters, bidirectional marks and
/// invalid UTF-8 bytes are escaped as \n, \x1b or \u202e.
std::string visible(std::string_view text);

/// Returns JSON text in which the same characters, which can occur only in strings, are written as JSON escapes.
std::string visible_json(std::string_view json);

}  // namespace kymo
