// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kymo::report {

/// Removes the first code point from `text`; returns U+FFFD for bytes that are not UTF-8 (once per maximal invalid
/// sequence).
char32_t take_code_point(std::string_view& text);

void append_utf8(std::string& out, char32_t code_point);

/// Makes a text printable on one line in any format: invalid UTF-8, control characters, noncharacters and invisible
/// characters that reorder text become U+FFFD; tabs and line breaks become spaces.
std::string printable(std::string_view text);

/// The same, but tabs and line breaks are preserved.
std::string printable_lines(std::string_view text);

/// At most `limit` code points; the removed rest is replaced by one ellipsis.
std::string shortened(std::string_view text, std::size_t limit);

std::size_t code_point_count(std::string_view text);

/// Lowercase letters, digits and single '-', at most 60 characters; "item" if nothing is left.
std::string file_stem_from(std::string_view text);

}  // namespace kymo::report
