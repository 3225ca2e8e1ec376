// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "catalog/catalog.hpp"

namespace kymo::catalog {

/// State of the file that a cached description belongs to: path, size, times and the kymo version.
Json cache_stamp(const std::filesystem::path& file);

/// The same for each library loaded from the plugin's folder, by name.
Json library_stamps(const Plugin& plugin, const std::filesystem::path& folder);

/// The cached description for exactly this state of the file and of its libraries; nullopt if there is none or if the
/// entry is damaged.
std::optional<Plugin> read_cached(const std::filesystem::path& file, const Json& stamp);

/// Caches a description with the stamps of the file and of its libraries. Failure only costs time, so it is only
/// logged.
void write_cached(const Plugin& plugin, const Json& stamp, const Json& libraries);

}  // namespace kymo::catalog
