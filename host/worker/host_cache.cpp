// SPDX-License-Identifier: Apache-2.0
#include "worker/host_cache.hpp"

#include <unistd.h>

#include <algorithm>

namespace kymo::worker {
namespace {

constexpr std::size_t kUnknownCacheBytes = std::size_t{256} << 20;
constexpr std::size_t kLineBytes = 64;

/// Caches are not strictly LRU: writing slightly more than the cache size evicts more of the old content.
constexpr std::size_t with_margin(std::size_t bytes) { return bytes + bytes / 4; }

}  // namespace

std::size_t host_cache_bytes() {
  long largest = 0;
  for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE})
    largest = std::max(largest, sysconf(level));
  return largest > 0 ? static_cast<std::size_t>(largest) : kUnknownCacheBytes;
}

HostCache::HostCache(std::size_t cache_bytes)
    : size_bytes_(with_margin(cache_bytes)), memory_(std::make_unique<unsigned char[]>(size_bytes_)) {}

void HostCache::flush() {
  // volatile, because the written values are never read
  volatile unsigned char* const bytes = memory_.get();
  for (std::size_t i = 0; i < size_bytes_; i += kLineBytes) bytes[i] = static_cast<unsigned char>(bytes[i] + 1);
}

}  // namespace kymo::worker
