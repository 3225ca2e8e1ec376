// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace kymo::catalog {

/// Copies the template to parent/NAME, replaces the names in it and returns that folder. Throws UsageError for an
/// invalid name or an existing folder, and Error if the template or the parent folder cannot be used.
std::filesystem::path new_plugin(const std::string& name, const std::filesystem::path& parent);

}  // namespace kymo::catalog
