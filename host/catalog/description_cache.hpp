// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "base/json.hpp"
#include "catalog/catalog.hpp"

/// Descriptions of unchanged files, which need no child process. Only descriptions are cached: a file that could not be
/// described is tried again.
namespace kymo::catalog {

/// State of the file that a cached description belongs to: path, size, times and the kymo version. Throws
/// PluginRejected.
Json cache_stamp(const std::filesystem::path& file);

/// The same for each file that the description depends on: the libraries loaded from the plugin's folder, by name, and
/// the interpreter and torch of a Python file. Throws PluginRejected.
Json dependency_stamps(const PluginFile& file);

/// True if there is a description of this file, perhaps of another state.
bool has_cached(const PluginFile& file);

/// The cached description for exactly this state of the file and of its libraries; nullopt if there is none or if the
/// entry is damaged.
std::optional<Plugin> read_cached(const PluginFile& file, const Json& stamp);

/// Caches a description with the stamps of the file and of its dependencies. Failure only costs time, so it is only
/// logged.
void write_cached(const Plugin& plugin, const Json& stamp, const Json& dependencies);

}  // namespace kymo::catalog
