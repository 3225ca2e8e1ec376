// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"
#include "catalog/plugin_file.hpp"

namespace kymo::catalog {
namespace {
namespace fs = std::filesystem;

/// The plugins in a folder, sorted by name. lib*.so are shared libraries, not plugins.
std::vector<fs::path> plugins_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (at->path().extension() == ".so" && !name.starts_with("lib") && !name.starts_with("."))
      files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<fs::path> search(const Options& options, std::vector<Rejected>& rejected) {
  std::vector<fs::path> files = options.extra_files;
  const char* path = std::getenv("KYMO_PLUGIN_PATH");
  for (const std::string& entry : split(path ? path : "", ':')) {
    if (entry.empty()) continue;
    std::error_code failed;
    if (fs::is_directory(entry, failed)) {
      const auto found = plugins_in(entry);
      append_range(files, found);
    } else if (fs::exists(entry, failed)) {
      files.emplace_back(entry);
    } else {
      rejected.push_back({entry, "listed in KYMO_PLUGIN_PATH, but no such file or folder"});
    }
  }
  const auto installed = plugins_in(options.installed);
  append_range(files, installed);
  return files;
}

/// Workloads are identified by name only, so a workload of an earlier plugin shadows a later one.
void add(Catalog& catalog, Plugin plugin, std::set<std::string>& names) {
  std::erase_if(plugin.workloads, [&](const Workload& workload) {
    const bool hidden = !names.insert(workload.name).second;
    if (hidden)
      log::debug("workload " + quote(workload.name) + " of " + quote(plugin.file.file.string()) +
                 " is shadowed by an earlier one");
    return hidden;
  });
  if (!plugin.workloads.empty()) catalog.plugins.push_back(std::move(plugin));
}

std::string about_rejected(const Rejected& rejected) {
  return quote(rejected.file.string()) + " was rejected: " + rejected.reason;
}

}  // namespace

Catalog discover(const Options& options) {
  Catalog catalog;
  std::set<std::string> names;
  std::set<fs::path> seen;
  for (const fs::path& file : search(options, catalog.rejected)) {
    std::error_code failed;
    const fs::path real = fs::weakly_canonical(file, failed);
    if (!seen.insert(failed ? file : real).second) continue;
    try {
      add(catalog, describe_file(file, options), names);
    } catch (const PluginRejected& rejection) {
      catalog.rejected.push_back({file, rejection.reason()});
    } catch (const std::exception& problem) {
      catalog.rejected.push_back({file, problem.what()});
    }
  }
  return catalog;
}

Found find_workload(const Catalog& catalog, const std::string& name) {
  std::vector<std::string> names;
  for (const Plugin& plugin : catalog.plugins) {
    for (const Workload& workload : plugin.workloads) {
      if (workload.name == name) return {&plugin, &workload};
      names.push_back(workload.name);
    }
  }
  for (const Rejected& rejected : catalog.rejected) {
    if (rejected.file.stem() == name) throw UsageError("no workload " + quote(name) + ": " + about_rejected(rejected));
  }
  std::string message = "no workload " + quote(name) + suggestion(name, names);
  if (!nearest(name, names) && !catalog.rejected.empty()) {
    message += "; " + std::to_string(catalog.rejected.size()) + " plugin file(s) were rejected, for example " +
               about_rejected(catalog.rejected.front());
  }
  if (names.empty() && catalog.rejected.empty()) message += ": no plugins found; set KYMO_PLUGIN_PATH or pass --plugin";
  throw UsageError(message);
}

}  // namespace kymo::catalog
