// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/text.hpp"
#include "catalog/plugin_file.hpp"

namespace kymo::catalog {
namespace {
namespace fs = std::filesystem;

/// my-kernel.py → my_kernel. Empty if the file name begins with no lowercase letter.
std::string python_plugin_name(const fs::path& file) {
  std::string name = file.stem().string();
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!is_name("a" + std::string(1, c))) c = '_';
  }
  return is_name(name) ? name : "";
}

}  // namespace

bool is_python_file(const fs::path& file) { return file.extension() == ".py"; }

PluginFile verify_python_file(const fs::path& file, const Options& options) {
  PluginFile identity = existing_file(file, options.trust);
  if (python_plugin_name(identity.file).empty())
    throw PluginRejected(identity.file, "a workload file needs a name that begins with a letter, such as my_kernel.py");
  identity.interpreter = find_interpreter(options.python);
  return identity;
}

void name_python_plugin(Plugin& plugin, const PluginFile& identity) {
  plugin.name = python_plugin_name(identity.file);
  const bool is_installed = identity.file.parent_path() == installation().plugins;
  if (plugin.version.empty()) plugin.version = is_installed ? version() : "0";
  if (plugin.workloads.empty())
    throw Error(
        "it contains no workload: derive a class from kymo.Workload or decorate a function with @kymo.workload");
}

std::string identity_sha256(const PluginFile& file) {
  if (file.interpreter.empty()) return file.sha256;
  return sha256(join({file.sha256, file.compiler, file.framework, file.framework_version, file.cuda_version}, "\n"));
}

}  // namespace kymo::catalog
