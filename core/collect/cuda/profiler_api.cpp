// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/profiler_api.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "base/text.hpp"
#include "collect/collector.hpp"

namespace kymo::collect {
namespace {

std::filesystem::path folder_of_cupti() {
  Dl_info found{};
  const auto* const address = reinterpret_cast<const void*>(&cuptiRangeProfilerEnable);
  return dladdr(address, &found) && found.dli_fname ? std::filesystem::path(found.dli_fname).parent_path()
                                                    : std::filesystem::path();
}

}  // namespace

std::string counter_problem(CUptiResult result, const char* what) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "no permission to read hardware counters; run as root, or load the driver with "
             "NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_HARDWARE_BUSY:
      return "another process uses the hardware counters of this GPU; end it (Nsight, another kymo), or pause DCGM "
             "with "
             "'dcgmi profiling --pause'";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
      return "this virtual GPU has no hardware counters; use a whole GPU, or enable profiling of the vGPU";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return "there are no hardware counters in confidential computing mode; disable the mode of this GPU";
    default:
      break;
  }
  const char* text = nullptr;
  const bool known = cuptiGetResultString(result, &text) == CUPTI_SUCCESS && text;
  return std::string("CUPTI cannot count (") + what + ": " + (known ? text : "error " + std::to_string(result)) +
         "); 'kymo doctor' examines the libraries and permissions";
}

void require_counters(CUptiResult result, const char* what) {
  if (result != CUPTI_SUCCESS) throw Unavailable(counter_problem(result, what));
}

void require_profiler_libraries() {
  const std::filesystem::path folder = folder_of_cupti();
  for (const char* name : {"libnvperf_target.so", "libnvperf_host.so"}) {
    // Never closed: CUPTI uses them until the process ends.
    if (dlopen((folder / name).c_str(), RTLD_NOW | RTLD_GLOBAL) || dlopen(name, RTLD_NOW | RTLD_GLOBAL)) continue;
    const char* reason = dlerror();
    throw Unavailable("counting needs CUPTI's library " + quote(name) + ": " + (reason ? reason : "cannot be loaded") +
                      "; install the wheel nvidia-cuda-cupti");
  }
}

}  // namespace kymo::collect
