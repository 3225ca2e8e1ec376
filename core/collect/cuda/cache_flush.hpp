// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace kymo::collect {

/// Fills the L2 cache of the current device with something else.
class CacheFlush {
 public:
  /// Takes memory of twice the L2's size; throws std::runtime_error.
  CacheFlush();
  ~CacheFlush();
  CacheFlush(const CacheFlush&) = delete;
  CacheFlush& operator=(const CacheFlush&) = delete;

  /// Queues that all of that memory is written; throws std::runtime_error.
  void queue(cudaStream_t stream);

 private:
  void* memory_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace kymo::collect
