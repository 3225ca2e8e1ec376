// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

/// What this machine has, by signs that do not come from the code under test: whatever depends on them fails, and is
/// not skipped, where it does not work.
namespace kymo::machine {

/// The driver has a GPU, and CUDA_VISIBLE_DEVICES does not hide all of them.
inline bool has_gpu() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool hidden = visible != nullptr && (std::string_view(visible).empty() || std::string_view(visible) == "-1");
  return !hidden && std::filesystem::exists("/dev/nvidiactl");
}

/// A container may have the driver's libraries for computing without those for management.
inline bool has_nvml() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  dlclose(library);
  return true;
}

}  // namespace kymo::machine
