// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "base/json.hpp"

namespace kymo {

/// Reads a TOML file as JSON; tables are unordered. Throws UsageError with the file, line and column of the syntax
/// error.
Json read_toml(const std::filesystem::path& file);
Json parse_toml(std::string_view text, const std::string& origin);

}  // namespace kymo
