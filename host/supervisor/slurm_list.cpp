// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"
#include "supervisor/launcher_environment.hpp"

namespace kymo::supervisor {
namespace {

constexpr std::size_t kMaxNodes = 65'536;

[[noreturn]] void malformed(const std::string& list, const std::string& variable, const std::string& right) {
  throw UsageError(variable + " is " + quote(list) + ", which is not a list of " + right);
}

std::optional<long> number(std::string_view digits) {
  long value = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failed != std::errc() || end != digits.data() + digits.size() || value < 0 || digits.front() == '-')
    return std::nullopt;
  return value;
}

/// Splits at commas outside brackets; nullopt if brackets do not match.
std::optional<std::vector<std::string>> parts_of(const std::string& list) {
  std::vector<std::string> parts(1);
  bool inside = false;
  for (const char c : list) {
    if (c == '[' || c == ']') {
      if (inside == (c == '[')) return std::nullopt;
      inside = c == '[';
    }
    if (c == ',' && !inside) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (inside) return std::nullopt;
  return parts;
}

/// "01-04" expands to 01, 02, 03, 04: numbers are padded to the width of the first one.
bool add_range(const std::string& range, std::vector<std::string>& numbers) {
  const std::size_t dash = range.find('-');
  const std::string first = range.substr(0, dash);
  const std::string last = dash == std::string::npos ? first : range.substr(dash + 1);
  if (first.empty() || last.empty()) return false;
  const auto low = number(first);
  const auto high = number(last);
  if (!low || !high || *high < *low || *high - *low >= static_cast<long>(kMaxNodes)) return false;
  for (long value = *low; value <= *high; ++value) {
    std::string digits = std::to_string(value);
    if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
    numbers.push_back(digits);
  }
  return numbers.size() <= kMaxNodes;
}

/// Appends every name that a part with any number of brackets expands to; the last bracket varies fastest.
bool add_names(const std::string& part, std::vector<std::string>& names) {
  std::vector<std::string> expanded{""};
  for (std::size_t at = 0; at < part.size();) {
    const std::size_t open = part.find('[', at);
    for (auto& name : expanded) name += part.substr(at, open == std::string::npos ? open : open - at);
    if (open == std::string::npos) break;
    const std::size_t close = part.find(']', open);
    std::vector<std::string> numbers;
    for (const auto& range : split(part.substr(open + 1, close - open - 1), ','))
      if (!add_range(range, numbers)) return false;
    if (expanded.size() * numbers.size() > kMaxNodes) return false;
    std::vector<std::string> longer;
    for (const auto& name : expanded)
      for (const auto& digits : numbers) longer.push_back(name + digits);
    expanded = std::move(longer);
    at = close + 1;
  }
  for (auto& name : expanded) {
    if (name.empty()) return false;
    names.push_back(std::move(name));
  }
  return names.size() <= kMaxNodes;
}

}  // namespace

std::vector<std::string> expand_nodes(const std::string& list, const std::string& variable) {
  static constexpr const char* kRight = "nodes such as node[01-04,7]";
  const auto parts = parts_of(list);
  if (!parts) malformed(list, variable, kRight);
  std::vector<std::string> names;
  for (const auto& part : *parts)
    if (part.empty() || !add_names(part, names)) malformed(list, variable, kRight);
  return names;
}

std::vector<int> expand_tasks(const std::string& list, const std::string& variable) {
  static constexpr const char* kRight = "task counts such as 2(x3),1";
  std::vector<int> tasks;
  for (const auto& part : split(list, ',')) {
    const std::size_t open = part.find("(x");
    const bool repeated = open != std::string::npos;
    if (part.empty() || (repeated && part.back() != ')') || open == 0) malformed(list, variable, kRight);
    const std::string repetitions = repeated ? part.substr(open + 2, part.size() - open - 3) : "1";
    const auto count = number(part.substr(0, open));
    const auto times = repetitions.empty() ? std::nullopt : number(repetitions);
    if (!count || !times || *count > 1'000'000 || tasks.size() + static_cast<std::size_t>(*times) > kMaxNodes)
      malformed(list, variable, kRight);
    tasks.insert(tasks.end(), static_cast<std::size_t>(*times), static_cast<int>(*count));
  }
  return tasks;
}

}  // namespace kymo::supervisor
