// SPDX-License-Identifier: Apache-2.0
#include "report/unicode.hpp"

namespace kymo::report {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Marks, embeddings, overrides and isolates: they can make one name look like another and affect the surrounding text.
bool reorders_text(char32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

bool is_unprintable(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF;
  const bool noncharacter = (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF);
  return control || noncharacter || reorders_text(c);
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
      append_utf8(out, is_unprintable(c) ? kReplacement : c);
    }
  }
  return out;
}

struct Lead {
  int length = 0;  // 0: cannot start a code point
  char32_t bits = 0;
  char32_t smallest = 0;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if (byte >= 0xC2 && byte < 0xE0) return {2, byte & 0x1Fu, 0x80};
  if (byte >= 0xE0 && byte < 0xF0) return {3, byte & 0x0Fu, 0x800};
  if (byte >= 0xF0 && byte < 0xF5) return {4, byte & 0x07u, 0x10000};
  return {};
}

}  // namespace

char32_t take_code_point(std::string_view& text) {
  const Lead lead = lead_of(static_cast<unsigned char>(text.front()));
  std::size_t used = 1;
  char32_t value = lead.bits;
  while (used < static_cast<std::size_t>(lead.length) && used < text.size() && is_continuation(text[used])) {
    value = (value << 6) | (static_cast<unsigned char>(text[used]) & 0x3Fu);
    ++used;
  }
  text.remove_prefix(used);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  const bool whole = lead.length > 0 && used == static_cast<std::size_t>(lead.length);
  return whole && value >= lead.smallest && value <= 0x10FFFF && !surrogate ? value : kReplacement;
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

std::string printable(std::string_view text) { return cleaned(text, false); }

std::string printable_lines(std::string_view text) { return cleaned(text, true); }

std::size_t code_point_count(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) take_code_point(text);
  return count;
}

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
