// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kymo::collect {

/// Evidence of another profiler in a process.
struct ProfilerTraces {
  std::string maps;                              ///< contents of /proc/PID/maps
  std::string cuda_injection;                    ///< CUDA_INJECTION64_PATH
  std::string nvtx_injection;                    ///< NVTX_INJECTION64_PATH
  std::vector<std::string> injection_libraries;  ///< loaded libraries that export CUDA's entry point for injected tools
};

/// Returns a one-line name of the other CUPTI client, for example "Nsight Systems ('libToolsInjection64.so')", or
/// "another CUPTI client in this process" if it is unknown.
std::string name_other_client(const ProfilerTraces& traces);

/// Collects the evidence in this process.
ProfilerTraces profiler_traces();

}  // namespace kymo::collect
