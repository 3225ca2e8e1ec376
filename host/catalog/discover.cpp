// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"
#include "catalog/plugin_file.hpp"

namespace kymo::catalog {
namespace {
namespace fs = std::filesystem;

/// Python files in folders of the user may be any programs, which importing them would run.
enum class PythonFiles { kExclude, kInclude };

/// The plugins in a folder, sorted by name. lib*.so are shared libraries, not plugins.
std::vector<fs::path> plugins_in(const fs::path& folder, PythonFiles python) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(".")) continue;
    const bool is_library = at->path().extension() == ".so" && !name.starts_with("lib");
    if (is_library || (python == PythonFiles::kInclude && is_python_file(name))) files.push_back(at->path());
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
      const auto found = plugins_in(entry, PythonFiles::kExclude);
      append_range(files, found);
    } else if (fs::exists(entry, failed)) {
      files.emplace_back(entry);
    } else {
      rejected.push_back({entry, "listed in KYMO_PLUGIN_PATH, but no such file or folder"});
    }
  }
  const auto installed = plugins_in(options.installed, PythonFiles::kInclude);
  append_range(files, installed);
  return files;
}

Rejected rejection(const fs::path& file, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const PluginRejected& rejected) {
    return {file, rejected.reason()};
  } catch (const NotDescribed& failed) {
    return {file, failed.reason(), true};
  } catch (const std::exception& problem) {
    return {file, problem.what()};
  }
}

std::string shell_example(const Plugin& plugin, const std::string& name) {
  std::error_code failed;
  const fs::path near = fs::relative(plugin.file.file, failed);
  const bool below = !near.empty() && *near.begin() != "..";
  return (below ? "./" + near.string() : plugin.file.file.string()) + ":" + name;
}

/// Files and folders in the current folder that the user may have meant by the name.
std::string about_files(const std::string& name) {
  std::error_code failed;
  for (const fs::path& file : {fs::path(name + ".so"), fs::path(name + ".py"), fs::path(name) / (name + ".so"),
                               fs::path(name) / "build" / (name + ".so"), fs::path("build") / (name + ".so")})
    if (fs::is_regular_file(file, failed)) return "; to use the plugin file, pass ./" + file.string();
  for (const char* extension : {".cpp", ".cc", ".cu"})
    for (const fs::path& source : {fs::path(name + extension), fs::path(name) / (name + extension)})
      if (fs::is_regular_file(source, failed))
        return "; to build the source of that name, run: kymo build " + source.string();
  return fs::is_directory(name, failed) ? "; the folder ./" + name + " contains no plugin " + name + ".so" : "";
}

}  // namespace

std::string Rejected::problem() const {
  return quote(file.string()) + (may_be_usable ? " could not be described: " : " is rejected: ") + reason;
}

Catalog discover(const Options& options) {
  Catalog catalog;
  std::set<fs::path> seen;
  std::vector<fs::path> files;
  for (const fs::path& file : search(options, catalog.rejected)) {
    std::error_code failed;
    const fs::path real = fs::weakly_canonical(file, failed);
    if (!seen.insert(failed ? file : real).second) continue;
    files.push_back(file);
  }
  std::vector<Described> described = describe_files(files, options);
  for (std::size_t index = 0; index < files.size(); ++index) {
    if (described[index].plugin) {
      catalog.plugins.push_back(std::move(*described[index].plugin));
    } else {
      catalog.rejected.push_back(rejection(files[index], described[index].error));
    }
  }
  return catalog;
}

Found find_workload(const Catalog& catalog, const std::string& name, const std::deque<Plugin>& others) {
  std::vector<std::string> names, examples;
  Found found;
  const auto look_in = [&](const Plugin& plugin) {
    for (const Workload& workload : plugin.workloads) {
      names.push_back(workload.name);
      if (workload.name != name) continue;
      if (found.plugin != nullptr && found.plugin->file.file == plugin.file.file) continue;
      found = {&plugin, &workload};
      examples.push_back(shell_example(plugin, name));
    }
  };
  for (const Plugin& plugin : catalog.plugins) look_in(plugin);
  for (const Plugin& plugin : others) look_in(plugin);
  if (examples.size() > 1)
    throw UsageError("workload " + quote(name) +
                     " is in several plugins; choose one with FILE:NAME: " + visible(join(examples, " or ")));
  if (found.workload != nullptr) return found;
  for (const Rejected& rejected : catalog.rejected) {
    if (rejected.file.stem() == name) throw UsageError("no workload " + quote(name) + ": " + rejected.problem());
  }
  const std::string files = is_name(name) ? about_files(name) : "";
  std::string message = "no workload " + quote(name) + (files.empty() ? suggestion(name, names) : files);
  if (files.empty() && !nearest(name, names) && !catalog.rejected.empty()) {
    message += "; " + std::to_string(catalog.rejected.size()) + " plugin file(s) cannot be used, for example " +
               catalog.rejected.front().problem();
  }
  if (names.empty() && catalog.rejected.empty()) message += ": no plugins found; set KYMO_PLUGIN_PATH or pass --plugin";
  throw UsageError(message);
}

}  // namespace kymo::catalog
