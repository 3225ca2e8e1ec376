// SPDX-License-Identifier: Apache-2.0
#include "plan/option_text.hpp"

#include "base/enum_names.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo::plan {

Shard shard_from(const std::string& text) {
  const std::vector<std::string> parts = split(text, '/');
  const auto index = parse_integer(parts[0]), count = parse_integer(parts.back());
  if (parts.size() != 2 || !index || !count || *index < 1 || *index > *count)
    throw UsageError("--shard takes i/n with 1 <= i <= n, such as 2/8, not " + quote(text));
  return {*index, *count};
}

std::pair<std::string, std::string> name_and_value(const std::string& option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError(option + " takes parameter=value, not " + quote(text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string error_if_empty(const std::string& text) { return text.empty() ? "needs a non-empty path" : ""; }

DeviceChoice device_choice_from(const std::string& option, const std::string& text) {
  static constexpr auto kChoices = enum_names<DeviceChoice>(
      "device", {{DeviceChoice::kAuto, "auto"}, {DeviceChoice::kCpu, "cpu"}, {DeviceChoice::kCuda, "cuda"}});
  if (const auto choice = kChoices.find(text)) return *choice;
  throw UsageError(option + " takes one of " + join(kChoices.names(), ", ") + ", not " + quote(text));
}

std::string shell_word(const std::string& text) {
  const char* const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!text.empty() && text.find_first_not_of(safe) == std::string::npos) return text;
  std::string word = "'";
  for (const char letter : text) word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + "'";
}

}  // namespace kymo::plan
