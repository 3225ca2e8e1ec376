// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kymo::report {

/// Makes a text printable on one line in any format: invalid UTF-8, control characters, noncharacters and invisible
/// characters that reorder text become U+FFFD; tabs and line breaks become spaces.
std::string printable(std::string_view text);

/// The same, but tabs and line breaks are preserved.
std::string printable_lines(std::string_view text);

/// At most `limit` code points; the removed rest is replaced by one ellipsis.
std::string shortened(std::string_view text, std::size_t limit);

/// Lowercase letters, digits and single '-', at most 60 characters; "item" if nothing is left.
std::string file_stem_from(std::string_view text);

}  // namespace kymo::report
