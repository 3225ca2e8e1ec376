// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kymo {

/// Returns an empty string for a null pointer from a C interface.
inline const char* or_empty(const char* text) { return text ? text : ""; }

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string trim(std::string_view text);

/// Returns the candidate with the smallest edit distance to `name`, if it is close enough to be a typo.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates);

/// Returns "; did you mean 'x'?", "; known: a, b, c" or an empty string, for error messages.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

/// Quotes a string for a one-line message: adds single quotes, escapes control characters and bounds the length.
std::string quote(std::string_view text);

/// Returns the shortest decimal text that parses back to the same number.
std::string shortest_text(double number);

/// Formats a byte count for display, for example "1.50 GiB".
std::string format_bytes(std::int64_t bytes);

/// Formats a duration for display with three significant digits, for example "12.3 ms".
std::string format_duration(double nanoseconds);

}  // namespace kymo
