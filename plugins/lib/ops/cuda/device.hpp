// SPDX-License-Identifier: Apache-2.0
// What the host side asks of the current device.
#pragma once
#include <cuda_runtime_api.h>

namespace kymo::flash {

inline cudaError_t count_multiprocessors(int& count) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  return error == cudaSuccess ? cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) : error;
}

}  // namespace kymo::flash
