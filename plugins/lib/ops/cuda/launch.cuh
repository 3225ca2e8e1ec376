// SPDX-License-Identifier: Apache-2.0
// Host side: launching kernels. Nothing is kept between calls.
#pragma once
#include <cuda_runtime.h>

#include <string>
#include <utility>

#include "device.hpp"

namespace kymo::flash {

inline std::string failure(const char* kernel, cudaError_t error) {
  return error == cudaSuccess ? std::string() : std::string(kernel) + ": " + cudaGetErrorString(error);
}

struct LaunchShape {
  int64_t blocks;
  int threads, shared_bytes;
  cudaStream_t stream;
  bool early = false;  ///< may start while the previous kernel runs; must call wait_for_prerequisites()
  int layers = 1;      ///< of `blocks` blocks each
  int block_rows = 1;  ///< of `threads` threads each
  int cluster = 1;     ///< successive blocks per thread block cluster (sm_90); must divide `blocks`
};

/// Dynamic shared memory that needs no raised limit: with at most 16 KiB of static shared memory, 48 KiB.
constexpr int kDefaultSharedBytes = 32 * 1024;
constexpr int kPortableCluster = 8;  // supported by every GPU with clusters; larger ones are an attribute of the kernel

/// Raises the kernel's limits on shared memory and cluster size if necessary and launches it. The limits belong to the
/// device, so every call sets them.
template <class... Parameters, class... Arguments>
cudaError_t queue(void (*kernel)(Parameters...), const LaunchShape& shape, Arguments&&... arguments) {
  if (shape.shared_bytes > kDefaultSharedBytes) {
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shape.shared_bytes);
    if (error != cudaSuccess) return error;
  }
  if (shape.cluster > kPortableCluster) {
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess) return error;
  }
  cudaLaunchAttribute attributes[2] = {};
  unsigned count = 0;
  if (shape.early) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (shape.cluster > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {static_cast<unsigned>(shape.cluster), 1, 1};
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(shape.blocks), static_cast<unsigned>(shape.layers));
  config.blockDim = dim3(static_cast<unsigned>(shape.threads), static_cast<unsigned>(shape.block_rows));
  config.dynamicSmemBytes = static_cast<size_t>(shape.shared_bytes);
  config.stream = shape.stream;
  config.attrs = attributes;
  config.numAttrs = count;
  return cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

}  // namespace kymo::flash
