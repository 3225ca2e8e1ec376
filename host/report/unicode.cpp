// SPDX-License-Identifier: Apache-2.0
#include "report/unicode.hpp"

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace kymo::report {
namespace {

bool is_unprintable(char32_t c) {
  const bool noncharacter = (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF);
  return noncharacter || is_unsafe_to_print(c);
}

std::string cleaned(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const char32_t c = take_code_point(text);
    const bool blank = c == '\t' || c == '\n' || c == '\r';
    if (blank) {
      out += keep_lines ? static_cast<char>(c) : ' ';
    } else {
      append_utf8(out, is_unprintable(c) ? kReplacementCharacter : c);
    }
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return cleaned(text, false); }

std::string printable_lines(std::string_view text) { return cleaned(text, true); }

std::string shortened(std::string_view text, std::size_t limit) {
  if (code_point_count(text) <= limit) return std::string(text);
  std::string out;
  for (std::size_t i = 0; i + 1 < limit; ++i) append_utf8(out, take_code_point(text));
  return out + "…";
}

std::string file_stem_from(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string stem;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (kept) {
      stem += static_cast<char>(upper ? c - 'A' + 'a' : c);
    } else if (!stem.empty() && stem.back() != '-') {
      stem += '-';
    }
    if (stem.size() == kLongest) break;
  }
  while (!stem.empty() && stem.back() == '-') stem.pop_back();
  return stem.empty() ? "item" : stem;
}

}  // namespace kymo::report
