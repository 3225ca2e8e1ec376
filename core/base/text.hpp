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

/// Parses a number as users write it: 250, 1.5, 1e6, 2^20, 4k, 1.5M, 64Ki. k (or K), M, G and T are powers of 1000, Ki,
/// Mi, Gi and Ti powers of 1024; one space may precede them. Returns nothing for other text, an integer that is not
/// whole, and overflow.
std::optional<double> parse_real(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);

/// Parses a size in bytes: a number as above, optionally followed by B, such as 4096, 512MiB, 8GB or 8G (the same).
/// Fractions of a byte are dropped. Returns nothing for other text, sizes below one byte and sizes above 10^18 bytes.
std::optional<std::int64_t> parse_bytes(std::string_view text);

/// Returns "; write 4M (4000000) or 4Mi (4194304)" for a number whose suffix is not one of these, such as 4m or 4mb, or
/// that carries a B although it is not a size; otherwise an empty string. For messages about rejected numbers.
std::string number_hint(std::string_view text);

/// Returns the shortest decimal text that parses back to the same number.
std::string shortest_text(double number);

/// Formats a byte count for display, for example "1.50 GiB".
std::string format_bytes(std::int64_t bytes);

/// Formats a duration for display with three significant digits, for example "12.3 ms".
std::string format_duration(double nanoseconds);

/// Returns true for control characters, of which terminals also interpret those in U+0080–U+009F, for line separators
/// and for invisible characters that change the direction of text, which can make one name look like another.
bool is_unsafe_to_print(char32_t code_point);

/// Returns the text as one line that is safe to print on a terminal: control characters, bidirectional marks and
/// invalid UTF-8 bytes are escaped as \n, \x1b or \u202e.
std::string visible(std::string_view text);

/// Returns JSON text in which the same characters, which can occur only in strings, are written as JSON escapes.
std::string visible_json(std::string_view json);

}  // namespace kymo
