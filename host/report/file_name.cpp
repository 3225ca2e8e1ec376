// SPDX-License-Identifier: Apache-2.0
#include "report/file_name.hpp"

#include <algorithm>

namespace kymo::report {

bool is_name(std::string_view text) {
  const auto belongs = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !text.empty() && std::ranges::all_of(text, belongs);
}

bool is_report_file(std::string_view text, std::string_view extension) {
  constexpr std::string_view kUp = "../";
  if (text.starts_with(kUp)) {
    const std::size_t slash = text.find('/', kUp.size());
    if (slash == std::string_view::npos || !is_name(text.substr(kUp.size(), slash - kUp.size()))) return false;
    text.remove_prefix(slash + 1);
  }
  if (!text.ends_with(extension)) return false;
  text.remove_suffix(extension.size());
  return text.ends_with('.') && is_name(text.substr(0, text.size() - 1));
}

}  // namespace kymo::report
