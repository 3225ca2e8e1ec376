// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace kymo::collect {

/// Evicts the L2 cache of the current device by writing memory.
class CacheFlush {
 public:
  /// Allocates twice the size of the L2 cache. Throws std::runtime_error.
  CacheFlush();
  ~CacheFlush();
  CacheFlush(const CacheFlush&) = delete;
  CacheFlush& operator=(const CacheFlush&) = delete;

  /// Queues a memset of that memory. Throws std::runtime_error.
  void queue(cudaStream_t stream);

 private:
  void* memory_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace kymo::collect
