// SPDX-License-Identifier: Apache-2.0
#include "base/visible.hpp"

#include <array>
#include <cstdio>

#include "base/utf8.hpp"

namespace kymo {
namespace {

std::string escape(const char* form, char32_t code) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), form, static_cast<unsigned>(code));
  return text.data();
}

}  // namespace

bool is_unsafe_to_print(char32_t code) {
  const bool control =
      code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 || code == 0xFEFF;
  return control || code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string visible(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    const char32_t code = first.valid ? first.value : static_cast<unsigned char>(text.front());
    const std::size_t bytes = first.valid ? first.bytes : 1;
    if (code == '\n') {
      result += "\\n";
    } else if (code == '\t') {
      result += "\\t";
    } else if (!first.valid || is_unsafe_to_print(code)) {
      result += escape(code < 0x100 ? "\\x%02x" : "\\u%04x", code);
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return result;
}

std::string visible_json(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  while (!json.empty()) {
    const CodePoint first = first_code_point(json);
    const bool layout = first.value < 0x20;  // the JSON writer has already escaped control characters inside strings
    if (first.valid && !layout && is_unsafe_to_print(first.value)) {
      result += escape("\\u%04x", first.value);
    } else {
      result += json.substr(0, first.bytes);
    }
    json.remove_prefix(first.bytes);
  }
  return result;
}

}  // namespace kymo
