// SPDX-License-Identifier: Apache-2.0
#include "cli/option_text.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/enum_names.hpp"
#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"

namespace kymo::cli {
namespace {

template <typename Number>
bool parse_all(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

constexpr std::pair<const char*, bool measure::Observation::*> kTraceDetails[] = {
    {"memsets", &measure::Observation::memsets},
    {"synchronization", &measure::Observation::synchronization},
    {"overhead", &measure::Observation::overhead_records},
    {"api", &measure::Observation::api_calls},
    {"shapes", &measure::Observation::shapes}};

}  // namespace

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
  double number = 0;
  if (parse_all(std::string_view(text).substr(0, text.size() - (percent ? 1 : 0)), number)) {
    if (percent) number /= 100;
    if (number > 0 && number < 1) return number;
  }
  throw UsageError(option + " takes a relative error above 0 and below 1, such as 0.01 or 1%, not " + quote(text));
}

double min_time(const std::string& option, const std::string& text) { return real_number(option, text, 0, 1e6); }

std::int64_t size_bytes(const std::string& option, const std::string& text) {
  if (const auto bytes = parse_bytes(text)) return *bytes;
  throw UsageError(option + " takes a size in bytes, such as 4096, 8G (8 × 1000³) or 512Mi (512 × 1024²), not " +
                   quote(text) + number_hint(text));
}

Shard shard_from(const std::string& text) {
  const std::size_t slash = text.find('/');
  Shard shard;
  if (slash == std::string::npos || !parse_all(std::string_view(text).substr(0, slash), shard.index) ||
      !parse_all(std::string_view(text).substr(slash + 1), shard.count) || shard.count < 1 || shard.index < 1 ||
      shard.index > shard.count) {
    throw UsageError("--shard takes i/n with 1 <= i <= n, such as 2/8, not " + quote(text));
  }
  return shard;
}

std::pair<std::string, std::string> name_and_value(const std::string& option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError(option + " takes parameter=value, not " + quote(text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<measure::Pass> passes_from(const std::string& option, const std::string& text) {
  // Verification runs first: a case that computes a wrong result is not timed.
  using measure::Pass;
  const std::vector<Pass> made{Pass::kVerify, Pass::kTime, Pass::kMemory, Pass::kTrace, Pass::kOps};
  std::vector<std::string> known;
  for (const auto pass : made) known.emplace_back(measure::to_string(pass));
  std::vector<std::string> asked;
  for (const std::string& word : split(text, ',')) {
    const std::string name = trim(word);
    if (!contains(known, name)) {
      throw UsageError(option + " takes a list of the passes " + join(known, ", ") + ", not " + quote(text));
    }
    asked.push_back(name);
  }
  std::vector<measure::Pass> passes;
  for (const auto pass : made) {
    if (contains(asked, measure::to_string(pass))) passes.push_back(pass);
  }
  return passes;
}

std::vector<std::string> trace_details() {
  std::vector<std::string> names;
  for (const auto& [name, member] : kTraceDetails) names.emplace_back(name);
  return names;
}

void add_trace_detail(const std::string& option, const std::string& text, measure::Observation& observation) {
  for (const std::string& word : split(text, ',')) {
    const std::string name = trim(word);
    if (name == "none") continue;
    const auto* const found = std::ranges::find(kTraceDetails, name, [](const auto& each) { return each.first; });
    if (found == std::end(kTraceDetails))
      throw UsageError(option + " takes a list of " + join(trace_details(), ", ") + ", or none, not " + quote(text));
    observation.*found->second = true;
  }
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

std::string database_option(const std::string& file) { return file == "kymo.db" ? "" : " --db " + shell_word(file); }

}  // namespace kymo::cli
