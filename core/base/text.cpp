// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include "base/utf8.hpp"

namespace kymo {
namespace {

/// Edit distance with transposition of adjacent characters (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = std::exchange(last, now);
  }
  return last[b.size()];
}

std::string with_digits(double value, const char* unit) {
  std::array<char, 64> text{};
  const int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, unit);
  return text.data();
}

std::string escape(const char* form, char32_t code) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), form, static_cast<unsigned>(code));
  return text.data();
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (;;) {
    const std::size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::string trim(std::string_view text) {
  static constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates) {
  static constexpr std::size_t kLongestName = 200;  // bounds the cost, which is quadratic in the length
  if (name.size() > kLongestName) return std::nullopt;
  const std::size_t admitted = std::max<std::size_t>(1, name.size() / 3);
  std::optional<std::string> best;
  std::size_t best_distance = admitted + 1;
  for (const auto& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  if (auto near = nearest(name, candidates)) return "; did you mean " + quote(*near) + "?";
  if (candidates.empty()) return {};
  static constexpr std::size_t kMost = 30;
  std::vector<std::string> shown;
  for (const std::string& candidate : candidates)
    if (shown.size() < kMost) shown.push_back(one_line(candidate, 60));
  if (candidates.size() > kMost) shown.push_back("and " + std::to_string(candidates.size() - kMost) + " more");
  return "; known: " + join(shown, ", ");
}

std::string quote(std::string_view text) {
  static constexpr std::size_t kMost = 300;
  const std::string_view shown = utf8_prefix(text, kMost);
  return "'" + visible(shown) + (shown.size() < text.size() ? "...'" : "'");
}

namespace {

template <typename Number>
std::optional<Number> parse_plain(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0 || exponent > 63) return std::nullopt;
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i)
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  return result;
}

/// Removes the space before a suffix.
void remove_space(std::string_view& text) {
  if (text.size() > 1 && text.ends_with(' ')) text.remove_suffix(1);
}

/// Removes a suffix such as "k" or "Mi" and returns its factor; 1 if there is none.
std::int64_t remove_suffix(std::string_view& text) {
  const bool binary = text.ends_with('i');
  const std::string_view rest = text.substr(0, text.size() - (binary ? 1 : 0));
  const std::size_t exponent = rest.empty() ? std::string_view::npos : std::string_view("kMGT").find(rest.back());
  const bool kilo = !rest.empty() && rest.back() == 'K';
  if (exponent == std::string_view::npos && !kilo) return 1;
  text = rest.substr(0, rest.size() - 1);
  remove_space(text);
  return *power(binary ? 1024 : 1000, kilo ? 1 : static_cast<std::int64_t>(exponent) + 1);
}

}  // namespace

std::optional<double> parse_real(std::string_view text) {
  if (const std::size_t caret = text.find('^'); caret != std::string_view::npos) {
    const auto base = parse_plain<double>(text.substr(0, caret)),
               exponent = parse_plain<double>(text.substr(caret + 1));
    return base && exponent ? std::optional(std::pow(*base, *exponent)) : std::nullopt;
  }
  const auto factor = static_cast<double>(remove_suffix(text));
  const auto number = parse_plain<double>(text);
  return number ? std::optional(*number * factor) : std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (const auto plain = parse_plain<std::int64_t>(text)) return plain;
  if (const std::size_t caret = text.find('^'); caret != std::string_view::npos) {
    const auto base = parse_plain<std::int64_t>(text.substr(0, caret));
    const auto exponent = parse_plain<std::int64_t>(text.substr(caret + 1));
    return base && exponent ? power(*base, *exponent) : std::nullopt;
  }
  // 1e6 and 1.5k: a double holds whole numbers up to 2^53 exactly.
  constexpr double kLargestExact = 9007199254740992.0;
  const auto number = parse_real(text);
  if (!number || !(std::abs(*number) <= kLargestExact) || *number != std::floor(*number)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000'000;
  if (text.ends_with('B')) {
    text.remove_suffix(1);
    remove_space(text);
  }
  if (const auto whole = parse_integer(text)) return *whole >= 1 && *whole <= kMost ? whole : std::nullopt;
  const auto number = parse_real(text);
  if (!number || !(*number >= 1 && *number <= static_cast<double>(kMost))) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::string number_hint(std::string_view text) {
  if (parse_real(text)) return "";
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string suffix = trim(text.substr(digits));
  for (char& letter : suffix) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (suffix.ends_with('b')) suffix.pop_back();
  if (suffix.ends_with('i')) suffix.pop_back();
  if (suffix.size() != 1 || std::string_view("kmgt").find(suffix[0]) == std::string_view::npos) return "";
  const char prefix = suffix == "k" ? 'k' : static_cast<char>(std::toupper(static_cast<unsigned char>(suffix[0])));
  const std::string decimal = std::string(text.substr(0, digits)) + prefix;
  const std::string binary = std::string(text.substr(0, digits)) + (prefix == 'k' ? 'K' : prefix) + "i";
  const auto first = parse_integer(decimal), second = parse_integer(binary);
  if (!first || !second) return "";
  return "; write " + decimal + " (" + std::to_string(*first) + ") or " + binary + " (" + std::to_string(*second) + ")";
}

std::string shortest_text(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

std::string format_bytes(std::int64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = std::abs(static_cast<double>(bytes));
  std::size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const std::string sign = bytes < 0 ? "-" : "";
  if (unit == 0) return sign + std::to_string(static_cast<std::int64_t>(value)) + " B";
  return sign + with_digits(value, kUnits[unit]);
}

std::string format_duration(double nanoseconds) {
  static constexpr std::array<const char*, 4> kUnits = {"ns", "µs", "ms", "s"};
  double value = std::abs(nanoseconds);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return (nanoseconds < 0 ? "-" : "") + with_digits(value, kUnits[unit]);
}

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
