// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

/// Hardware detection that does not use the code under test, so that tests fail instead of being skipped if that code
/// does not work.
namespace kymo::machine {

/// Returns true if the driver has a GPU and CUDA_VISIBLE_DEVICES does not hide all GPUs.
inline bool has_gpu() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool hidden = visible != nullptr && (std::string_view(visible).empty() || std::string_view(visible) == "-1");
  return !hidden && std::filesystem::exists("/dev/nvidiactl");
}

/// Returns true if NVML is installed. A container may contain the compute libraries of the driver without NVML.
inline bool has_nvml() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  dlclose(library);
  return true;
}

}  // namespace kymo::machine
