// SPDX-License-Identifier: Apache-2.0
#include "catalog/cache.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/log.hpp"
#include "catalog/plugin_file.hpp"

namespace kymo::catalog {
namespace {

constexpr int kFormat = 3;

/// One entry per path, so that rebuilding a plugin does not fill the folder.
std::filesystem::path entry_for(const std::filesystem::path& file) {
  return cache_folder() / "plugins" / (sha256(file.string()).substr(0, 32) + ".json");
}

}  // namespace

Json cache_stamp(const std::filesystem::path& file) {
  struct stat facts{};
  if (stat(file.c_str(), &facts) != 0)
    throw PluginRejected(file, std::string("cannot read its status: ") + std::strerror(errno));
  const auto nanoseconds = [](const timespec& time) {
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  };
  // The change time detects a replaced file with a preserved modification time.
  return {{"format", kFormat},
          {"kymo", version()},
          {"file", file.string()},
          {"size_bytes", facts.st_size},
          {"modified_ns", nanoseconds(facts.st_mtim)},
          {"changed_ns", nanoseconds(facts.st_ctim)}};
}

Json library_stamps(const Plugin& plugin, const std::filesystem::path& folder) {
  Json stamps = Json::object();
  for (const auto& [name, hash] : plugin.file.libraries) stamps[name] = cache_stamp(folder / name);
  return stamps;
}

std::optional<Plugin> read_cached(const std::filesystem::path& file, const Json& stamp) {
  try {
    const auto entry = entry_for(file);
    if (!std::filesystem::exists(entry)) return std::nullopt;
    const Json json = parse_json(read_file(entry), entry.string());
    if (!json.is_object() || !json.contains("stamp") || json["stamp"] != stamp || !json.contains("plugin"))
      return std::nullopt;
    Plugin plugin = plugin_from_json(json["plugin"]);
    if (plugin.workloads.empty() || plugin.file.sha256.size() != 64) return std::nullopt;
    if (!json.contains("libraries") || json["libraries"] != library_stamps(plugin, file.parent_path()))
      return std::nullopt;
    return plugin;
  } catch (const std::exception& problem) {
    log::debug(std::string("ignoring a cached description: ") + problem.what());
    return std::nullopt;
  }
}

void write_cached(const Plugin& plugin, const Json& stamp, const Json& libraries) {
  try {
    const auto entry = entry_for(plugin.file.file);
    std::filesystem::create_directories(entry.parent_path());
    write_file(entry, Json{{"stamp", stamp}, {"libraries", libraries}, {"plugin", to_json(plugin)}}.dump());
  } catch (const std::exception& problem) {
    log::debug(std::string("could not cache a description: ") + problem.what());
  }
}

}  // namespace kymo::catalog
