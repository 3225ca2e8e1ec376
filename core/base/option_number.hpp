// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

/// Converts texts of options and configuration files into numbers. Each function throws UsageError with `option`, which
/// names the option or key, the text and the accepted values.
namespace kymo {

/// Parses an integer in [low, high], as parse_integer() does.
std::int64_t whole_number(const std::string& option, const std::string& text, std::int64_t low, std::int64_t high);

/// Parses a finite number in [low, high], as parse_real() does.
double real_number(const std::string& option, const std::string& text, double low, double high);

/// Parses a relative error such as "0.01" or "1%", greater than 0 and less than 1.
double relative_error(const std::string& option, const std::string& text);

/// Parses a size in bytes, such as "4096", "512MiB" or "8G", as parse_bytes() does.
std::int64_t size_bytes(const std::string& option, const std::string& text);

}  // namespace kymo
