// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "catalog/catalog.hpp"

namespace kymo::catalog {

/// The state of a file that a cached description was made from: path, size, times and the kymo that asked.
Json cache_stamp(const std::filesystem::path& file);

/// The same for each library of the plugin's folder that is loaded with it, by name.
Json library_stamps(const Plugin& plugin, const std::filesystem::path& folder);

/// The description kept for exactly this state of the file and of its libraries; nothing if there is none, or if the
/// entry is damaged.
std::optional<Plugin> read_cached(const std::filesystem::path& file, const Json& stamp);

/// Keeps a description with the stamps of the file and of its libraries. A cache that cannot be written costs time,
/// nothing else, so failure is only logged.
void write_cached(const Plugin& plugin, const Json& stamp, const Json& libraries);

}  // namespace kymo::catalog
