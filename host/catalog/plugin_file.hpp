// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_note.h>
#include <kymo_plugin.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"

/// The parts of a plugin file: its note, which is read without loading the file, and its table.
namespace kymo::catalog {

/// Why a plugin file is not used. The message names the file; reason() omits it, for tables of such files.
class PluginError : public Error {
 public:
  const std::string& reason() const noexcept { return reason_; }

 protected:
  PluginError(const std::filesystem::path& file, const std::string& verdict, const std::string& reason)
      : Error("plugin " + quote(file.string()) + " " + verdict + ": " + reason), reason_(reason) {}

 private:
  std::string reason_;
};

/// A plugin file that cannot be used.
class PluginRejected : public PluginError {
 public:
  PluginRejected(const std::filesystem::path& file, const std::string& reason)
      : PluginError(file, "is rejected", reason) {}
};

/// A plugin file that may be usable, but whose description failed: a limit was reached, or the machine lacked memory or
/// processes.
class NotDescribed : public PluginError {
 public:
  NotDescribed(const std::filesystem::path& file, const std::string& reason)
      : PluginError(file, "could not be described", reason) {}
};

/// Reads the kymo note of an ELF file without loading it. Every offset is checked, so the file may contain arbitrary
/// bytes. Throws PluginRejected if the file is not a shared library for this machine or has no readable kymo note.
kymo_note read_note(const std::filesystem::path& file);

/// Throws PluginRejected with both versions if the plugin was built for an interface that this kymo does not support.
void check_abi(const std::filesystem::path& file, const kymo_note& note);

inline constexpr const char* kLibTorch = "libtorch";

/// Environment that the dynamic loader needs to find the plugin's framework: LD_LIBRARY_PATH, or empty. Throws Error if
/// LibTorch is not found.
std::vector<std::pair<std::string, std::string>> loader_environment(const PluginFile& file);

/// Resolves a file and checks who can alter it, unless it is trusted. Throws PluginRejected.
PluginFile existing_file(const std::filesystem::path& file, bool trust);

/// The same for a Python file; also finds its interpreter.
PluginFile verify_python_file(const std::filesystem::path& file, const Options& options);

/// Names the plugin after its file. Throws Error if it has no workload.
void name_python_plugin(Plugin& plugin, const PluginFile& identity);

/// Checks what a plugin says of itself, in whatever form: names, defaults, axes, phases, devices, limits. Throws Error
/// with the reason.
void check_description(const Plugin& plugin);

/// Copies a plugin's description from its C table and checks all of it. Throws Error with the reason. The identity of
/// the file is left empty. Pointers cannot be checked, so only the describing child and workers call this.
Plugin plugin_from_table(const kymo_plugin& table);

}  // namespace kymo::catalog
