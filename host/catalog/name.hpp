// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace kymo::catalog {

inline constexpr const char* kNameRule =
    "a name is a lowercase letter followed by up to 63 lowercase letters, digits and '_'";

/// Names are used in SQL, file names, C++ and the command line, so they are restricted to simple characters.
constexpr bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 64 || text[0] < 'a' || text[0] > 'z') return false;
  for (const char c : text) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}

}  // namespace kymo::catalog
