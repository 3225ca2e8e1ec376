// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "measure/plan.hpp"

/// Converts option texts into values. Each function throws UsageError with the option, the text and the accepted
/// values.
namespace kymo::cli {

/// Maximum number of processes per run.
inline constexpr std::int64_t kMaxRanks = 4096;

/// Maximum number of steps of each kind per run: far more than practical, and small enough that sums cannot overflow.
inline constexpr std::int64_t kMaxSteps = 1'000'000'000'000;

/// Parses an integer in [low, high], as parse_integer() does.
std::int64_t whole_number(const std::string& option, const std::string& text, std::int64_t low, std::int64_t high);

/// Parses a finite number in [low, high], as parse_real() does.
double real_number(const std::string& option, const std::string& text, double low, double high);

/// Parses a relative error such as "0.01" or "1%", greater than 0 and less than 1.
double relative_error(const std::string& option, const std::string& text);

/// Parses the least time to measure, in seconds; 0 is allowed.
double min_time(const std::string& option, const std::string& text);

/// Parses a size in bytes, such as "4096", "512MiB" or "8G", as parse_bytes() does.
std::int64_t size_bytes(const std::string& option, const std::string& text);

/// The i-th of n shards, counted from 1.
struct Shard {
  std::int64_t index = 1;
  std::int64_t count = 1;
};
Shard shard_from(const std::string& text);

/// Splits "name=value" at the first '='.
std::pair<std::string, std::string> name_and_value(const std::string& option, const std::string& text);

/// The words of --trace-detail besides "none".
std::vector<std::string> trace_details();
/// Enables the records in a list such as "memsets,api"; "none" enables none. Throws UsageError with the accepted words.
void add_trace_detail(const std::string& option, const std::string& text, measure::Observation& observation);
/// Parses a list of passes; returns them in execution order.
std::vector<measure::Pass> passes_from(const std::string& option, const std::string& text);

/// A validator for path options: returns the error message, or an empty string if the text is valid.
std::string error_if_empty(const std::string& text);

enum class DeviceChoice { kAuto, kCpu, kCuda };
DeviceChoice device_choice_from(const std::string& option, const std::string& text);

/// Quotes a word for the shell if necessary.
std::string shell_word(const std::string& text);

/// " --db FILE" for a command to copy; empty for the default database.
std::string database_option(const std::string& file);

}  // namespace kymo::cli
