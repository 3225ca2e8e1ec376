// SPDX-License-Identifier: Apache-2.0
#include "collect/module.hpp"

#include <dlfcn.h>

#include "base/installation.hpp"

namespace kymo::collect {
namespace {

std::string loader_message() {
  const char* message = dlerror();
  return message ? message : "unknown dynamic loader error";
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

const Module& load_installed_module(const std::string& name) {
  return load_module(installation().modules / (name + ".so"));
}

}  // namespace kymo::collect
