// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/installation.hpp"
#include "base/json.hpp"
#include "base/limited_command.hpp"
#include "catalog/description.hpp"

/// Creates, finds, verifies and describes plugins. The host process never loads a plugin; `kymo describe-plugin FILE`
/// does so in a child process.
namespace kymo::catalog {

/// A plugin file that cannot be used, and the reason.
struct Rejected {
  std::filesystem::path file;
  std::string reason;
  bool may_be_usable = false;  ///< describing it reached a limit, or the machine lacked memory or processes

  /// "'FILE' is rejected: ..." or, if it may be usable, "'FILE' could not be described: ..."
  std::string problem() const;
};

struct Options {
  std::vector<std::filesystem::path> extra_files;                 ///< --plugin FILE
  std::filesystem::path installed = installation().plugins;       ///< the last directory of the search path
  bool trust = false;                                             ///< --trust: also accept files that others can alter
  std::string python;                                             ///< --python: interpreter for Python files
  CommandLimits library_limits{.processor_s = 20, .idle_s = 60};  ///< of describing a shared library
  CommandLimits python_limits{.processor_s = 60,
                              .idle_s = 60};  ///< of describing a Python file, which may import torch
  bool only_cached = false;                   ///< reject files without a cached description instead of describing them
  std::size_t describe_at_once = 0;  ///< files described at the same time; 0: the processors that this process may use
  /// Receives one line if describing takes longer than announce_after_s.
  std::function<void(const std::string&)> announce{};
  double announce_after_s = 2;
};

struct Catalog {
  std::vector<Plugin> plugins;  ///< in search path order; several may contain workloads of the same name
  std::vector<Rejected> rejected;
};

/// Reads the ELF note and checks permissions without loading the file. Leaves the hash empty, because it takes longer
/// than all other checks together. Throws Error with the reason.
PluginFile verify_file(const std::filesystem::path& file, bool trust);

/// True if workloads in this file are written in Python.
bool is_python_file(const std::filesystem::path& file);

/// Identifies what a run measured: the file's hash; for Python files, also the versions of the interpreter and of
/// torch.
std::string identity_sha256(const PluginFile& file);

/// A plugin, or why there is none.
struct Described {
  std::optional<Plugin> plugin;
  std::exception_ptr error;  ///< set if there is no plugin
};

/// Describes files in child processes, or from the cache keyed by path, size and time. The limits of a description hold
/// on a busy machine: they count processor time, and time in which it waits for neither a processor nor the disk.
std::vector<Described> describe_files(const std::vector<std::filesystem::path>& files, const Options& options);

/// The same for one file. Throws Error with the reason.
Plugin describe_file(const std::filesystem::path& file, const Options& options);

/// Searches extra_files, then KYMO_PLUGIN_PATH (folders or files separated by ':'), then the installed plugins.
Catalog discover(const Options& options);

/// A workload and its plugin.
struct Found {
  const Plugin* plugin = nullptr;
  const Workload* workload = nullptr;
};

/// Finds a workload in the catalog or in other plugins. Throws UsageError for a name of several plugins, and for an
/// unknown name with the file or folder of that name, the closest match, or the rejected file that may contain it.
Found find_workload(const Catalog& catalog, const std::string& name, const std::deque<Plugin>& others = {});

/// Checks names, types and bounds of settings "p=v" and fills in the defaults. Throws UsageError with the parameter,
/// the value and the allowed values.
measure::Parameters bind_parameters(const Workload& workload,
                                    const std::vector<std::pair<std::string, std::string>>& texts);

/// Parses a value as written on the command line. Throws UsageError with the parameter, the value and the allowed
/// values.
measure::Value parse_value(const Parameter& parameter, const std::string& text);

/// Checks a value against type, bounds and choices; throws UsageError.
void check_value(const Parameter& parameter, const measure::Value& value);

/// Loads the library into this process (a worker or the describing child), checks its table against the note and
/// returns the table. Throws Error. The library is never unloaded.
const void* load_plugin(const std::filesystem::path& file);

Json to_json(const Plugin& plugin);
Plugin plugin_from_json(const Json& json);

/// Implements the hidden command `kymo describe-plugin FILE`: prints JSON on stdout and returns the exit code.
int describe_in_this_process(const std::filesystem::path& file);

/// Copies the template to parent/NAME, replaces the names in it and returns that folder. Throws UsageError for an
/// invalid name or an existing folder, and Error if the template or the parent folder cannot be used.
std::filesystem::path new_plugin(const std::string& name, const std::filesystem::path& parent);

/// The same with a Python template, such as "torch" or "triton", to the file parent/NAME.py, which it returns.
std::filesystem::path new_python_file(const std::string& name, const std::string& variant,
                                      const std::filesystem::path& parent);

/// What `kymo build` compiles.
struct BuildRequest {
  std::vector<std::filesystem::path> sources;  ///< C++ and CUDA; the plugin is named after the first one
  std::vector<std::string> compile_flags;      ///< such as -I and -D
  std::vector<std::string> link_flags;         ///< such as -L and -l
  std::function<void(const std::vector<std::string>&)> on_command;  ///< receives each command before it runs
  std::function<void(const std::string&)> on_output;                ///< receives the output of each command, unchanged
};

/// Compiles sources into ./NAME.so with the compiler in $CXX or `c++`, and .cu files with nvcc from $CUDA_HOME or the
/// CUDA wheels. Links what the sources include: LibTorch as found by find_torch(), kymo::comm, the CUDA runtime.
/// Returns the created file. Throws UsageError for unsuitable sources, and Error if compilation fails or a library is
/// missing.
std::filesystem::path build_plugin_file(const BuildRequest& request);

}  // namespace kymo::catalog
