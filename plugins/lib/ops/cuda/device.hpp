// SPDX-License-Identifier: Apache-2.0
// Queries about the current device.
#pragma once
#include <cuda_runtime_api.h>

namespace kymo::flash {

inline cudaError_t device_attribute(cudaDeviceAttr attribute, int& value) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  return error == cudaSuccess ? cudaDeviceGetAttribute(&value, attribute, device) : error;
}
inline cudaError_t count_multiprocessors(int& count) { return device_attribute(cudaDevAttrMultiProcessorCount, count); }
/// Maximum shared memory per block in bytes (opt-in).
inline cudaError_t shared_memory_of_block(int& bytes) {
  return device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, bytes);
}

}  // namespace kymo::flash
