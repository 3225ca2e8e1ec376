// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "measure/plan.hpp"

/// How the texts of options become values. Each function throws UsageError naming the option, the text and what is
/// admitted.
namespace kymo::cli {

/// Most processes of one run.
inline constexpr std::int64_t kMostRanks = 4096;

/// Most steps of a kind in one run: far more than anyone waits for, and their sums are far from overflowing.
inline constexpr std::int64_t kMostSteps = 1'000'000'000'000;

/// A whole number between two bounds, both admitted.
std::int64_t whole_number(const std::string& option, const std::string& text, std::int64_t low, std::int64_t high);

/// A finite number between two bounds, both admitted.
double real_number(const std::string& option, const std::string& text, double low, double high);

/// A relative error such as "0.01" or "1%"; above 0 and below 1.
double relative_error(const std::string& option, const std::string& text);

/// Bytes from "4096", "512MiB", "8G": KiB, MiB, GiB and TiB or their first letters are powers of 1024, KB, MB, GB and
/// TB of 1000.
std::int64_t size_bytes(const std::string& option, const std::string& text);

/// The i-th of n parts, counted from 1.
struct Shard {
  std::int64_t index = 1;
  std::int64_t count = 1;
};
Shard shard_from(const std::string& text);

/// Splits "name=value" at the first '='.
std::pair<std::string, std::string> name_and_value(const std::string& option, const std::string& text);

/// Adds what a list such as "memsets,api" asks to be recorded. Throws UsageError naming the admitted words.
void add_trace_detail(const std::string& option, const std::string& text, measure::Observation& how);
/// Passes in the order in which they are made.
std::vector<measure::Pass> passes_from(const std::string& option, const std::string& text);

/// A check for path options that names nothing but files: what is wrong with the text, or nothing.
std::string complain_if_empty(const std::string& text);

enum class DeviceChoice { kAuto, kCpu, kCuda };
DeviceChoice device_choice_from(const std::string& option, const std::string& text);

/// A word for use in a shell, quoted only where it must be.
std::string shell_word(const std::string& text);

}  // namespace kymo::cli
