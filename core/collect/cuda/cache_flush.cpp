// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/cache_flush.hpp"

#include "collect/cuda/cuda_error.hpp"

namespace kymo::collect {
namespace {

// The replacement policy of the cache is undocumented, so twice its size is written.
constexpr std::size_t kTimesTheCache = 2;

}  // namespace

CacheFlush::CacheFlush() {
  int device = 0;
  int cache_bytes = 0;
  check_cuda(cudaGetDevice(&device), "querying the current device");
  check_cuda(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, device), "querying the size of the L2 cache");
  size_bytes_ = kTimesTheCache * static_cast<std::size_t>(cache_bytes);
  if (size_bytes_ > 0) check_cuda(cudaMalloc(&memory_, size_bytes_), "allocating memory to flush the L2 cache");
}

CacheFlush::~CacheFlush() {
  if (memory_) cudaFree(memory_);
}

void CacheFlush::queue(cudaStream_t stream) {
  if (memory_) check_cuda(cudaMemsetAsync(memory_, 0, size_bytes_, stream), "flushing the L2 cache");
}

}  // namespace kymo::collect
