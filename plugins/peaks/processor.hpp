// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Measuring a CPU: its caches, its clock, and functions that move memory with every thread.
namespace kymo::peaks {

/// Sizes of the caches of the first processor in bytes, from sysfs; 0: not reported.
struct CacheSizes {
  std::int64_t first = 0;   ///< level 1, data
  std::int64_t second = 0;  ///< level 2
  std::int64_t last = 0;    ///< the largest
};
CacheSizes cache_sizes();

/// Physical memory in bytes.
std::int64_t physical_memory();

/// Copies memory; each of the threads copies one contiguous part.
void copy_with_threads(void* target, const void* source, std::size_t bytes, int threads);

/// Reads memory `repeats` times; each of the threads reads one contiguous part. Returns repeats times the sum of the
/// words modulo 2^32.
std::uint32_t read_with_threads(const std::uint32_t* words, std::size_t count, int repeats, int threads);

/// Current clock of the core in Hz, from the time of dependent additions, which take one cycle each. Takes about a
/// millisecond.
double core_clock();

}  // namespace kymo::peaks
