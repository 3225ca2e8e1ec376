// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "catalog/catalog.hpp"

namespace kymo::catalog {

inline constexpr const char* kLibTorch = "libtorch";

/// verify_file() without the hash, which takes longer than all other checks together.
PluginFile identify(const std::filesystem::path& file, bool trust);

/// Environment that the dynamic loader needs to find the plugin's framework: LD_LIBRARY_PATH, or empty. Throws Error if
/// LibTorch is not found.
std::vector<std::pair<std::string, std::string>> loader_environment(const PluginFile& file);

}  // namespace kymo::catalog
