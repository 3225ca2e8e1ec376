// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kymo::report {

/// Takes the first code point off `text`; U+FFFD for bytes that are not UTF-8 (each maximal broken stretch counts
/// once).
char32_t take_code_point(std::string_view& text);

void append_utf8(std::string& out, char32_t code_point);

/// Makes a text printable on one line in any format: invalid UTF-8, other control characters, noncharacters and the
/// invisible characters that reorder text become U+FFFD; tabs and line ends become spaces.
std::string printable(std::string_view text);

/// The same, but tabs and line ends stay.
std::string printable_lines(std::string_view text);

/// At most `limit` code points; what is cut is replaced by one ellipsis.
std::string shortened(std::string_view text, std::size_t limit);

std::size_t code_point_count(std::string_view text);

/// Lower-case letters, digits and single '-', at most 60 of them; "item" if nothing is left.
std::string file_stem_from(std::string_view text);

}  // namespace kymo::report
