// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kymo {

/// JSON for communication between processes and for users. Objects keep their insertion order.
using Json = nlohmann::ordered_json;

/// Parses JSON text. Throws Error that names `origin` and the position of the syntax error.
Json parse_json(std::string_view text, const std::string& origin);

/// Writes JSON text, on one line or with line breaks and an indent. Strings may come from plugins and files: invalid
/// UTF-8 becomes U+FFFD instead of an exception.
std::string dump_json(const Json& json, int indent = -1);

// Members of an object. These functions throw Json::exception if the member is missing or of another type.
inline std::string text_at(const Json& object, const char* name) { return object.at(name).get<std::string>(); }
inline std::int64_t integer_at(const Json& object, const char* name) { return object.at(name).get<std::int64_t>(); }
inline double real_at(const Json& object, const char* name) { return object.at(name).get<double>(); }

/// Reads a TOML file as JSON; tables are unordered. Throws UsageError with the file, line and column of the syntax
/// error.
Json read_toml(const std::filesystem::path& file);
Json parse_toml(std::string_view text, const std::string& origin);

}  // namespace kymo
