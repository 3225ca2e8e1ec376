// SPDX-License-Identifier: Apache-2.0
#include "collect/module.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/ranges.hpp"

namespace kymo::collect {
namespace {

constexpr const char* kAnyDevice = "any";

std::string loader_message() {
  const char* message = dlerror();
  return message ? message : "unknown dynamic loader error";
}

ModuleDeclaration read_declaration(const std::filesystem::path& module) {
  const auto file = std::filesystem::path(module).replace_extension(".json");
  auto declaration = parse_json(read_file(file), file.string()).get<ModuleDeclaration>();
  declaration.file = module;
  if (declaration.device != kAnyDevice) enum_from<measure::DeviceKind>(declaration.device);
  return declaration;
}

}  // namespace

const char* build_id() { return KYMO_BUILD_ID; }

const Module& load_module(const std::filesystem::path& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Unavailable("cannot load the module: " + loader_message());
  const auto entry = reinterpret_cast<ModuleEntry>(dlsym(library, kModuleSymbol));
  if (!entry) throw Unavailable(file.string() + " is not a kymo module: missing symbol " + kModuleSymbol);
  const Module* module = entry();
  if (!module || !module->make)
    throw Unavailable(file.string() + " is not a kymo module: its entry point returned nothing");
  if (std::string(module->build) != build_id()) {
    throw Unavailable(file.string() + " was built for " + module->build + ", but this host is " + build_id() +
                      "; install both from the same build");
  }
  return *module;
}

std::vector<ModuleDeclaration> read_declarations(const std::filesystem::path& modules) {
  std::set<std::filesystem::path> files;  // of both kinds, so that a missing one is noticed
  std::error_code no_directory;           // an installation without modules
  for (const auto& entry : std::filesystem::directory_iterator(modules, no_directory))
    if (const auto extension = entry.path().extension(); extension == ".json" || extension == ".so")
      files.insert(std::filesystem::path(entry.path()).replace_extension(".so"));
  std::vector<ModuleDeclaration> declarations;
  for (const auto& file : files) {
    try {
      declarations.push_back(read_declaration(file));
    } catch (const Error& error) {
      throw Error("cannot use the collector module " + file.string() + ": " + error.what());
    }
  }
  std::ranges::stable_sort(declarations, {}, &ModuleDeclaration::order);
  return declarations;
}

std::vector<ModuleDeclaration> read_declarations(const std::filesystem::path& modules,
                                                 const std::string& torch_version) {
  auto declarations = read_declarations(modules);
  // A patch release does not change the interfaces that modules use.
  const auto folder = modules / ("torch-" + torch_version.substr(0, torch_version.rfind('.')));
  if (!std::filesystem::is_directory(folder)) return declarations;
  std::erase_if(declarations, [](const ModuleDeclaration& declaration) {
    return declaration.needs_torch || declaration.device != kAnyDevice;  // links LibTorch or the CUDA of its wheel
  });
  append_range(declarations, read_declarations(folder));
  std::ranges::stable_sort(declarations, {}, &ModuleDeclaration::order);
  return declarations;
}

std::vector<ModuleDeclaration> select_modules(const std::vector<ModuleDeclaration>& declarations, measure::Pass pass,
                                              measure::DeviceKind device, bool uses_torch) {
  std::vector<ModuleDeclaration> selected;
  std::ranges::copy_if(declarations, std::back_inserter(selected), [&](const auto& declaration) {
    const auto& passes = declaration.passes;
    return (declaration.device == kAnyDevice || declaration.device == to_string(device)) &&
           (uses_torch || !declaration.needs_torch) && contains(passes, pass);
  });
  return selected;
}

const Module& load_device_module(const std::vector<ModuleDeclaration>& declarations, measure::DeviceKind device) {
  for (const ModuleDeclaration& declaration : declarations) {
    if (declaration.needs_torch || declaration.device != to_string(device)) continue;
    const Module& module = load_module(declaration.file);
    if (module.devices) return module;
  }
  throw Unavailable(std::string("this installation has no collector module for ") + to_string(device) + " devices");
}

}  // namespace kymo::collect
