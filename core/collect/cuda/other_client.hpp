// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kymo::collect {

/// What tells which other profiler is in a process.
struct ProfilerTraces {
  std::string maps;                              ///< text of /proc/PID/maps
  std::string cuda_injection;                    ///< CUDA_INJECTION64_PATH
  std::string nvtx_injection;                    ///< NVTX_INJECTION64_PATH
  std::vector<std::string> injection_libraries;  ///< loaded libraries that export CUDA's entry for injected tools
};

/// Names the other user of CUPTI as far as it can be known, in one line: "Nsight Systems ('libToolsInjection64.so')";
/// else "another CUPTI client in this process".
std::string name_other_client(const ProfilerTraces& traces);

/// The traces in this process.
ProfilerTraces profiler_traces();

}  // namespace kymo::collect
