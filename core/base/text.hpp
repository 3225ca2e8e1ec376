// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kymo {

/// A text that came through a C interface; a null pointer stands for an empty one.
inline const char* or_empty(const char* text) { return text ? text : ""; }

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string trim(std::string_view text);

/// The candidate with the smallest edit distance to `name`, if it is near enough to be a slip of the pen.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates);

/// "; did you mean 'x'?" or "; known: a, b, c" or nothing, for error messages.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

/// The text in single quotes with control characters escaped and its length bounded: safe in a one-line message.
std::string quote(std::string_view text);

/// Bytes for people: "1.50 GiB".
std::string format_bytes(std::int64_t bytes);

/// Nanoseconds for people, with three significant digits: "12.3 ms".
std::string format_duration(double nanoseconds);

}  // namespace kymo
