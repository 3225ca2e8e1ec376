// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kymo::cli {

/// Returns the executable a shell would start for this word: paths are used as they are, names are looked up in PATH.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace kymo::cli
