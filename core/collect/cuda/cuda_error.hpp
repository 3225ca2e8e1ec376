// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace kymo::collect {

/// Returns the text of a CUDA error and clears the runtime's last error, so that later calls do not see it.
inline std::string take_cuda_error(cudaError_t error) {
  cudaGetLastError();
  return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
}

/// Throws std::runtime_error that names the failed operation.
inline void check_cuda(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw std::runtime_error(std::string("CUDA error, ") + what + ": " + take_cuda_error(error));
}

}  // namespace kymo::collect
