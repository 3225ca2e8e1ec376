// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kymo {

/// JSON as it travels between processes and to users; keys keep the order in which they were written.
using Json = nlohmann::ordered_json;

/// Parses JSON text; throws Error naming `origin` and the place of the mistake.
Json parse_json(std::string_view text, const std::string& origin);

}  // namespace kymo
