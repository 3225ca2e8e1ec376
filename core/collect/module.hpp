// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "collect/collector.hpp"
#include "measure/json_field.hpp"

namespace kymo::collect {

/// Identifies the version, the compiler and the headers that host and modules share.
const char* build_id();

/// Loads a collector module and checks that it was built with this host. Modules are never unloaded, because their
/// libraries (CUDA, LibTorch) do not support it. Loading the same file again is cheap. Throws Unavailable if the file
/// does not exist, a library is missing (with the loader's message), or the build id differs.
const Module& load_module(const std::filesystem::path& file);

/// Declares in which runs the collector of a module takes part. kymo_module() in CMake writes it to a JSON file next to
/// the module, so that a module is only loaded where it is used.
struct ModuleDeclaration {
  std::filesystem::path file = {};         ///< the module
  std::string device = {};                 ///< "cuda", or "any"
  bool needs_torch = false;                ///< only for plugins that link LibTorch
  std::vector<measure::Pass> passes = {};  ///< passes that it takes part in
  int order = 0;                           ///< collectors are armed in ascending order

  std::string name() const { return file.stem().string(); }
  static auto fields(auto& m) {
    return std::forward_as_tuple("device", m.device, "needs_torch", m.needs_torch, "passes", m.passes, "order",
                                 m.order);
  }
};

/// Reads the declarations in a directory, sorted by order and name; none if the directory does not exist. Throws Error
/// that names the module if its declaration is missing or invalid.
std::vector<ModuleDeclaration> read_declarations(const std::filesystem::path& modules);

/// The same for a process with this version of torch, such as "2.12.1+cu130". The modules that need LibTorch are those
/// of its minor version: in `modules` for the version that kymo was built with, otherwise in the directory
/// torch-MAJOR.MINOR in it. There are none for other versions and for those that are no release, because LibTorch's
/// structs differ between versions.
std::vector<ModuleDeclaration> read_declarations(const std::filesystem::path& modules,
                                                 const std::string& torch_version);

/// Minor versions of torch, such as "2.12", for which the modules that need LibTorch exist; in ascending order.
std::vector<std::string> torch_versions(const std::filesystem::path& modules);

/// Selects the modules for a run on this device.
std::vector<ModuleDeclaration> select_modules(const std::vector<ModuleDeclaration>& declarations, measure::Pass pass,
                                              measure::DeviceKind device, bool uses_torch);

/// Loads the module that enumerates the devices of this kind; it must not need LibTorch. Throws Unavailable like
/// load_module(), or if there is none.
const Module& load_device_module(const std::vector<ModuleDeclaration>& declarations, measure::DeviceKind device);

}  // namespace kymo::collect
