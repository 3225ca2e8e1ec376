// SPDX-License-Identifier: Apache-2.0
#include "plan/targets.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "catalog/plugin_file.hpp"
#include "plan/option_text.hpp"

namespace kymo::plan {

catalog::Found Targets::find(const std::string& word) {
  const auto names_file = [&](const std::string& extension) {
    return word.ends_with(extension) || word.find(extension + ":") != std::string::npos;
  };
  if (word.find('/') != std::string::npos || names_file(".so") || names_file(".py")) return find_in_file(word);
  if (word.find('=') != std::string::npos)
    throw UsageError(quote(word) + " is not a workload; to set a parameter, pass --set " + shell_word(word));
  return catalog::find_workload(discovered(), word, files_);
}

std::vector<std::string> Targets::workload_names() {
  std::vector<std::string> names;
  for (const catalog::Plugin& plugin : discovered().plugins) {
    for (const catalog::Workload& workload : plugin.workloads) names.push_back(workload.name);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

const catalog::Catalog& Targets::discovered() {
  if (!catalog_) {
    catalog_ = catalog::discover(options_);
    check_named_files();
  }
  return *catalog_;
}

// Broken plugins on the search path are skipped; an explicitly named file must be usable.
void Targets::check_named_files() const {
  for (const catalog::Rejected& rejected : catalog_->rejected) {
    if (std::ranges::find(options_.extra_files, rejected.file) != options_.extra_files.end()) {
      throw Error("--plugin " + rejected.problem());
    }
  }
}

namespace {

/// Describing a Python file executes it, so that of a training program would train.
void check_is_plugin(const std::filesystem::path& file) {
  if (file.extension() == ".py" && read_file(file).find("kymo") == std::string::npos)
    throw UsageError(quote(file.string()) +
                     " is no plugin, because it does not use kymo; to observe a program: kymo trace -- python " +
                     shell_word(file.string()));
}

}  // namespace

catalog::Found Targets::find_in_file(const std::string& word) {
  std::filesystem::path file = word;
  std::string name;
  const std::size_t colon = word.rfind(':');
  std::error_code ignored;  // an unreadable path is treated as missing
  if (!std::filesystem::is_regular_file(file, ignored) && colon != std::string::npos) {
    file = word.substr(0, colon);
    name = word.substr(colon + 1);
  }
  if (!std::filesystem::is_regular_file(file, ignored))
    throw UsageError("no such plugin file: " + quote(file.string()));
  check_is_plugin(file);
  file = std::filesystem::canonical(file);
  auto plugin = std::ranges::find_if(files_, [&](const auto& each) { return each.file.file == file; });
  try {
    if (plugin == files_.end()) plugin = files_.insert(files_.end(), catalog::describe_file(file, options_));
  } catch (const catalog::PluginRejected& rejected) {
    throw UsageError(rejected.what());
  }
  std::vector<std::string> names;
  for (const catalog::Workload& workload : plugin->workloads) {
    if (workload.name == name || (name.empty() && plugin->workloads.size() == 1)) return {&*plugin, &workload};
    names.push_back(workload.name);
  }
  const std::string shown = quote(file.filename().string());
  if (name.empty())
    throw UsageError("plugin " + shown + " contains several workloads; pass FILE:NAME with one of " +
                     join(names, ", "));
  throw UsageError("plugin " + shown + " contains no workload " + quote(name) + suggestion(name, names));
}

}  // namespace kymo::plan
