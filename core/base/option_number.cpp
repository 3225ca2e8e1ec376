// SPDX-License-Identifier: Apache-2.0
#include "base/option_number.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo {

std::int64_t whole_number(const std::string& option, const std::string& text, std::int64_t low, std::int64_t high) {
  const auto number = parse_integer(text);
  if (!number || *number < low || *number > high) {
    const bool open = high == std::numeric_limits<std::int64_t>::max();
    throw UsageError(
        option + " takes a whole number " +
        (open ? "of at least " + std::to_string(low) : "from " + std::to_string(low) + " to " + std::to_string(high)) +
        ", not " + quote(text) + number_hint(text));
  }
  return *number;
}

double real_number(const std::string& option, const std::string& text, double low, double high) {
  const auto number = parse_real(text);
  if (!number || !std::isfinite(*number) || *number < low || *number > high) {
    throw UsageError(option + " takes a number from " + shortest_text(low) + " to " + shortest_text(high) + ", not " +
                     quote(text) + number_hint(text));
  }
  return *number;
}

double relative_error(const std::string& option, const std::string& text) {
  const bool percent = !text.empty() && text.back() == '%';
  const char* const end = text.data() + text.size() - (percent ? 1 : 0);
  double number = 0;
  if (const auto [rest, error] = std::from_chars(text.data(), end, number); error == std::errc() && rest == end) {
    if (percent) number /= 100;
    if (number > 0 && number < 1) return number;
  }
  throw UsageError(option + " takes a relative error above 0 and below 1, such as 0.01 or 1%, not " + quote(text));
}

std::int64_t size_bytes(const std::string& option, const std::string& text) {
  if (const auto bytes = parse_bytes(text)) return *bytes;
  throw UsageError(option + " takes a size in bytes, such as 4096, 8G (8 × 1000³) or 512Mi (512 × 1024²), not " +
                   quote(text) + number_hint(text));
}

}  // namespace kymo
