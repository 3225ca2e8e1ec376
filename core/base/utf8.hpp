// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kymo {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

/// The code point at the start of a UTF-8 text. If the text does not start with one, `value` is U+FFFD and `bytes` is
/// the length of the first byte and of the continuation bytes that it announces.
struct CodePoint {
  char32_t value = kReplacementCharacter;
  std::size_t bytes = 1;
  bool valid = false;
};

/// The text must not be empty.
CodePoint first_code_point(std::string_view text);

/// Removes the first code point from the text and returns it; U+FFFD once per invalid sequence.
char32_t take_code_point(std::string_view& text);

void append_utf8(std::string& out, char32_t code_point);

/// Number of code points; an invalid sequence counts as one.
std::size_t code_point_count(std::string_view text);

/// Columns that a character takes on a terminal: 2 for East Asian wide characters and emoji, 0 for combining marks.
std::size_t display_width(char32_t code_point);
/// Sum over the characters of a text; sequences that set a colour (ESC [ … m) take no column.
std::size_t display_width(std::string_view text);

/// Returns true if all bytes are ASCII and none is NUL. valid_utf8() does not change such text.
bool is_ascii_without_nul(std::string_view text);

/// Returns the text with every byte that is not UTF-8, and every NUL, replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

/// Returns the longest prefix of at most `limit` bytes that does not split a character.
std::string_view utf8_prefix(std::string_view text, std::size_t limit);

/// Returns the text as one line of valid UTF-8 for a message, in which control characters are replaced by spaces. A
/// text of more than `limit` bytes is cut and ends with an ellipsis.
std::string one_line(std::string_view text, std::size_t limit = 200);

}  // namespace kymo
