// SPDX-License-Identifier: Apache-2.0
#include "catalog/description_cache.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <exception>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/log.hpp"
#include "catalog/plugin_file.hpp"

namespace kymo::catalog {
namespace {

constexpr int kCacheFormat = 4;

/// One entry per path and interpreter, so that rebuilding a plugin does not fill the folder.
std::filesystem::path entry_for(const PluginFile& file) {
  const std::string key = file.file.string() + (file.interpreter.empty() ? "" : "\n" + file.interpreter.string());
  return cache_folder() / "plugins" / (sha256(key).substr(0, 32) + ".json");
}

}  // namespace

bool has_cached(const PluginFile& file) {
  try {
    return std::filesystem::exists(entry_for(file));
  } catch (const std::exception&) {  // without a cache directory, or an unreadable entry
    return false;
  }
}

Json cache_stamp(const std::filesystem::path& file) {
  struct stat facts{};
  if (stat(file.c_str(), &facts) != 0)
    throw PluginRejected(file, std::string("cannot read its status: ") + std::strerror(errno));
  const auto nanoseconds = [](const timespec& time) {
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  };
  // The change time detects a replaced file with a preserved modification time.
  return {{"format", kCacheFormat},
          {"kymo", version()},
          {"file", file.string()},
          {"size_bytes", facts.st_size},
          {"modified_ns", nanoseconds(facts.st_mtim)},
          {"changed_ns", nanoseconds(facts.st_ctim)}};
}

Json dependency_stamps(const PluginFile& file) {
  Json stamps = Json::object();
  for (const auto& [name, hash] : file.libraries) stamps[name] = cache_stamp(file.file.parent_path() / name);
  if (!file.interpreter.empty()) stamps["interpreter"] = cache_stamp(file.interpreter);
  if (!file.torch.empty()) stamps["torch"] = cache_stamp(file.torch / "version.py");
  return stamps;
}

std::optional<Plugin> read_cached(const PluginFile& file, const Json& stamp) {
  try {
    const auto entry = entry_for(file);
    if (!std::filesystem::exists(entry)) return std::nullopt;
    const Json json = parse_json(read_file(entry), entry.string());
    if (!json.is_object() || !json.contains("stamp") || json["stamp"] != stamp || !json.contains("plugin"))
      return std::nullopt;
    Plugin plugin = plugin_from_json(json["plugin"]);
    if (plugin.workloads.empty() || plugin.file.sha256.size() != 64) return std::nullopt;
    plugin.file.file = file.file;
    if (!json.contains("dependencies") || json["dependencies"] != dependency_stamps(plugin.file)) return std::nullopt;
    return plugin;
  } catch (const std::exception& problem) {
    log::debug(std::string("ignoring a cached description: ") + problem.what());
    return std::nullopt;
  }
}

void write_cached(const Plugin& plugin, const Json& stamp, const Json& dependencies) {
  try {
    const auto entry = entry_for(plugin.file);
    std::filesystem::create_directories(entry.parent_path());
    write_file(entry, Json{{"stamp", stamp}, {"dependencies", dependencies}, {"plugin", to_json(plugin)}}.dump());
  } catch (const std::exception& problem) {
    log::debug(std::string("could not cache a description: ") + problem.what());
  }
}

}  // namespace kymo::catalog
