// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kymo::cli {

/// The executable file that a shell would start for this word: a path as it is, a name from the folders of PATH.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace kymo::cli
