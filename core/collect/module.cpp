// SPDX-License-Identifier: Apache-2.0
#include "collect/module.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/json.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"

namespace kymo::collect {
namespace {

constexpr const char* kAnyDevice = "any";

constexpr const char* kTorchFolder = "torch-";  // followed by the minor version

/// "2.12" of "2.12.1" and "2.12.1+cu130". Empty if the version is not that of a release: the structs of a nightly or
/// source build are those of some commit.
std::string minor_version(const std::string& torch_version) {
  const std::vector<std::string> numbers = split(torch_version.substr(0, torch_version.find('+')), '.');
  const auto is_number = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  };
  return numbers.size() == 3 && std::ranges::all_of(numbers, is_number) ? numbers[0] + "." + numbers[1] : "";
}

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
  const std::string minor = minor_version(torch_version);
  if (!minor.empty() && minor == minor_version(build_torch_version())) return declarations;
  std::erase_if(declarations, [](const ModuleDeclaration& declaration) { return declaration.needs_torch; });
  if (minor.empty()) return declarations;
  append_range(declarations, read_declarations(modules / (kTorchFolder + minor)));
  std::ranges::stable_sort(declarations, {}, &ModuleDeclaration::order);
  return declarations;
}

std::vector<std::string> torch_versions(const std::filesystem::path& modules) {
  std::vector<std::string> versions;
  const auto needs_torch = [](const ModuleDeclaration& declaration) { return declaration.needs_torch; };
  const std::string own = minor_version(build_torch_version());  // empty in a build without LibTorch
  if (!own.empty() && std::ranges::any_of(read_declarations(modules), needs_torch)) versions.push_back(own);
  std::error_code no_directory;
  for (const auto& entry : std::filesystem::directory_iterator(modules, no_directory))
    if (const std::string name = entry.path().filename().string(); name.starts_with(kTorchFolder))
      versions.push_back(name.substr(std::string_view(kTorchFolder).size()));
  // "2.9" comes before "2.10".
  std::ranges::sort(versions, {}, [](const std::string& version) { return std::pair(version.size(), version); });
  return versions;
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
