// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace kymo::catalog {

/// Copies the template to parent/NAME with its names replaced and returns that folder.
/// Throws UsageError for a name that cannot be one or a folder that exists, Error if the template or the parent cannot
/// be used.
std::filesystem::path new_plugin(const std::string& name, const std::filesystem::path& parent);

}  // namespace kymo::catalog
