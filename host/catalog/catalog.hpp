// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "measure/plan.hpp"

/// Finds, verifies and describes plugins. The host process never loads one: `kymo describe-plugin FILE` does, in a
/// child.
namespace kymo::catalog {

enum class ParameterType { kInt, kReal, kBool, kText, kChoice };
const char* to_string(ParameterType type);

struct Parameter {
  std::string name;
  ParameterType type = ParameterType::kText;
  std::string unit;
  std::string documentation;
  measure::Value default_value;
  std::optional<double> minimum;
  std::optional<double> maximum;
  std::vector<std::string> choices;
  std::vector<std::string> axis;  ///< values worth sweeping over
};

struct Workload {
  std::string name;
  std::string documentation;
  std::vector<Parameter> parameters;
  std::vector<std::string> phases;
  bool runs_on_cpu = true;
  bool runs_on_cuda = false;
  int min_ranks = 1;
  int max_ranks = 0;  ///< 0 = no bound
  bool asynchronous_step = false;
};

/// What the ELF note says, and the file's identity.
struct PluginFile {
  std::filesystem::path file;  ///< absolute, links resolved
  std::string sha256;
  std::map<std::string, std::string> libraries;  ///< of the plugin's folder, loaded with it: sha256 by file name
  int abi_major = 0;
  int abi_minor = 0;
  std::string framework;
  std::string framework_version;
  std::string cuda_version;
  std::string compiler;
  std::string cxx_abi;
};

struct Plugin {
  PluginFile file;
  std::string name;
  std::string version;
  std::vector<Workload> workloads;
};

/// A plugin file that cannot be used, and why.
struct Rejected {
  std::filesystem::path file;
  std::string reason;
};

struct Options {
  std::vector<std::filesystem::path> extra_files;  ///< --plugin FILE
  bool trust = false;                              ///< --trust: also take world-writable files
  double describe_deadline_s = 20;
};

struct Catalog {
  std::vector<Plugin> plugins;  ///< in the order of the search path; a name found earlier hides a later one
  std::vector<Rejected> rejected;
};

/// Reads the ELF note and checks permissions without loading the file. Throws Error with the reason.
PluginFile verify_file(const std::filesystem::path& file, bool trust);

/// Describes one file in a child process, or from the cache keyed by path, size and time. Throws Error with the reason.
Plugin describe_file(const std::filesystem::path& file, const Options& options);

/// extra_files, then KYMO_PLUGIN_PATH (folders or files, ':' between), then the installation's plugins.
Catalog discover(const Options& options);

/// A workload and the plugin that holds it.
struct Found {
  const Plugin* plugin = nullptr;
  const Workload* workload = nullptr;
};

/// Throws UsageError naming the nearest workload, or the rejected file that may have held it.
Found find_workload(const Catalog& catalog, const std::string& name);

/// Checks names, types and bounds of texts "p=v" and fills in the defaults. Throws UsageError naming parameter, value
/// and what is admitted.
measure::Parameters bind_parameters(const Workload& workload,
                                    const std::vector<std::pair<std::string, std::string>>& texts);

/// Loads the library into this process (a worker or the describing child) and returns its table; checks it against the
/// note. Throws Error. The library is never unloaded.
const void* load_plugin(const std::filesystem::path& file);

Json to_json(const Plugin& plugin);
Plugin plugin_from_json(const Json& json);

/// Body of the hidden command `kymo describe-plugin FILE`: prints JSON on stdout; returns the exit code.
int describe_in_this_process(const std::filesystem::path& file);

}  // namespace kymo::catalog
