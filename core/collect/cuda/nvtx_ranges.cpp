// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/nvtx_ranges.hpp"

#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <initializer_list>

namespace kymo::collect {

bool nvtx_is_wanted() {
  for (const char* name : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"}) {
    const char* value = std::getenv(name);
    if (value && *value) return true;
  }
  return false;
}

void nvtx_begin(const char* name) { nvtxRangePushA(name); }
void nvtx_end() { nvtxRangePop(); }

}  // namespace kymo::collect
