// SPDX-License-Identifier: Apache-2.0
// Reads memory as fast as the device can: every thread has eight independent 16-byte loads in flight.
#include <cuda_runtime.h>

#include "device_read.hpp"

namespace kymo::peaks {
namespace {

constexpr int kThreads = 512;
constexpr int kBlocksPerMultiprocessor = 4;
constexpr int kLoads = 8;

/// Volatile, so that a repetition is not merged with the previous one.
__device__ uint4 load(const uint4* address) {
  uint4 value;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(address));
  return value;
}

__device__ unsigned sum_of(uint4 value) { return value.x + value.y + value.z + value.w; }

__global__ void __launch_bounds__(kThreads) read(const uint4* data, long long count, int repeats, unsigned* total) {
  const long long threads = static_cast<long long>(gridDim.x) * kThreads;
  const long long first = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  unsigned sum = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    long long i = first;
    for (; i + (kLoads - 1) * threads < count; i += kLoads * threads) {
      uint4 values[kLoads];
#pragma unroll
      for (int k = 0; k < kLoads; ++k) values[k] = load(data + i + k * threads);
#pragma unroll
      for (int k = 0; k < kLoads; ++k) sum += sum_of(values[k]);
    }
    for (; i < count; i += threads) sum += sum_of(load(data + i));
  }
  sum = __reduce_add_sync(0xffffffffU, sum);
  if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

}  // namespace

int read_on_device(const std::uint32_t* words, std::int64_t count, int repeats, std::uint32_t* sum, int multiprocessors,
                   void* stream) {
  read<<<multiprocessors * kBlocksPerMultiprocessor, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      reinterpret_cast<const uint4*>(words), count / 4, repeats, sum);
  return cudaGetLastError();
}

}  // namespace kymo::peaks
