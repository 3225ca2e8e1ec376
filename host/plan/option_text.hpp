// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/option_number.hpp"

/// Converts option texts into values. Each function throws UsageError with the option, the text and the accepted
/// values.
namespace kymo::plan {

/// Maximum number of processes per run.
inline constexpr std::int64_t kMaxRanks = 4096;

/// The i-th of n shards, counted from 1.
struct Shard {
  std::int64_t index = 1;
  std::int64_t count = 1;
};
Shard shard_from(const std::string& text);

/// Splits "name=value" at the first '='.
std::pair<std::string, std::string> name_and_value(const std::string& option, const std::string& text);

/// A validator for path options: returns the error message, or an empty string if the text is valid.
std::string error_if_empty(const std::string& text);

enum class DeviceChoice { kAuto, kCpu, kCuda };
DeviceChoice device_choice_from(const std::string& option, const std::string& text);

/// Quotes a word for the shell if necessary.
std::string shell_word(const std::string& text);

}  // namespace kymo::plan
