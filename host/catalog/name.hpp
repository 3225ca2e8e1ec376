// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace kymo::catalog {

inline constexpr const char* kNameRule =
    "a name is a lower-case letter, then up to 63 lower-case letters, digits and '_'";

/// Names travel to SQL, file names, C++ and the command line, so they are kept plain.
constexpr bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 64 || text[0] < 'a' || text[0] > 'z') return false;
  for (const char c : text) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}

}  // namespace kymo::catalog
