// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace kymo {
namespace {

using Range = std::pair<char32_t, char32_t>;  // first and last

constexpr std::array kCombining{Range{0x300, 0x36F},   Range{0x483, 0x489},   Range{0x591, 0x5BD},
                                Range{0x610, 0x61A},   Range{0x64B, 0x65F},   Range{0x1AB0, 0x1AFF},
                                Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200F}, Range{0x20D0, 0x20FF},
                                Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}, Range{0xE0100, 0xE01EF}};
constexpr std::array kWide{Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},
                           Range{0xA960, 0xA97F},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
                           Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},
                           Range{0x1F300, 0x1F64F}, Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF},
                           Range{0x20000, 0x3FFFD}};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t c) {
  return std::ranges::any_of(ranges, [c](const Range& range) { return c >= range.first && c <= range.second; });
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u; }

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0) return {};
  char32_t value = lead & (0xFFu >> (length + 1));
  std::size_t used = 1;
  for (; used < length && used < text.size() && is_continuation(text[used]); ++used)
    value = value << 6 | (static_cast<unsigned char>(text[used]) & 0x3Fu);
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (used < length || overlong || surrogate || value > 0x10FFFF) return {kReplacementCharacter, used, false};
  return {value, length, true};
}

char32_t take_code_point(std::string_view& text) {
  const CodePoint first = first_code_point(text);
  text.remove_prefix(first.bytes);
  return first.value;
}

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

std::size_t code_point_count(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) take_code_point(text);
  return count;
}

std::size_t display_width(char32_t c) { return c < 0x300 ? 1 : is_in(kCombining, c) ? 0 : is_in(kWide, c) ? 2 : 1; }

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    if (text.starts_with("\x1b["))
      text.remove_prefix(std::min(text.find('m'), text.size() - 1) + 1);
    else
      width += display_width(take_code_point(text));
  }
  return width;
}

bool is_ascii_without_nul(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<signed char>(c) > 0; });
}

std::string valid_utf8(std::string_view text) {
  if (is_ascii_without_nul(text)) return std::string(text);
  std::string valid;
  valid.reserve(text.size() + 16);
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    const bool kept = first.valid && first.value != 0;
    const std::size_t bytes = kept ? first.bytes : 1;
    if (kept)
      valid += text.substr(0, bytes);
    else
      append_utf8(valid, kReplacementCharacter);
    text.remove_prefix(bytes);
  }
  return valid;
}

std::string_view utf8_prefix(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && is_continuation(text[limit])) --limit;
  return text.substr(0, limit);
}

std::string one_line(std::string_view text, std::size_t limit) {
  std::string line;
  for (const char c : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool blank = byte < 0x20 || byte == 0x7F;
    if (!blank || (!line.empty() && line.back() != ' ')) line += blank ? ' ' : c;
  }
  if (line.size() <= limit) return line;
  return std::string(utf8_prefix(line, limit)) + "…";
}

}  // namespace kymo
