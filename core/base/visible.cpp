// SPDX-License-Identifier: Apache-2.0
#include "base/visible.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

namespace kymo {
namespace {

/// A UTF-8 character and its encoded bytes. A byte that does not begin a complete character is its own character.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool whole = false;
};

Character first_of(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || length > text.size()) return {lead, 1, false};
  std::uint32_t code = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return {lead, 1, false};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {lead, 1, false};
  return {code, length, true};
}

// C1 controls act on terminals like ESC. Bidirectional embeddings, overrides and isolates can disguise text.
bool is_unsafe(std::uint32_t code) {
  const bool control =
      code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 || code == 0xFEFF;
  return control || code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string escape(const char* form, std::uint32_t code) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), form, code);
  return text.data();
}

}  // namespace

std::string visible(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character character = first_of(text);
    if (character.code == '\n') {
      result += "\\n";
    } else if (character.code == '\t') {
      result += "\\t";
    } else if (!character.whole || is_unsafe(character.code)) {
      result += escape(character.code < 0x100 ? "\\x%02x" : "\\u%04x", character.code);
    } else {
      result += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return result;
}

std::string visible_json(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  while (!json.empty()) {
    const Character character = first_of(json);
    const bool layout = character.code < 0x20;  // the JSON writer has already escaped control characters inside strings
    if (character.whole && !layout && is_unsafe(character.code)) {
      result += escape("\\u%04x", character.code);
    } else {
      result += json.substr(0, character.bytes);
    }
    json.remove_prefix(character.bytes);
  }
  return result;
}

}  // namespace kymo
