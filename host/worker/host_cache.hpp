// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace kymo::worker {

/// Size of this machine's largest CPU cache in bytes; if the system does not report it, an estimate that is rather too
/// large.
std::size_t host_cache_bytes();

/// Evicts the content of the CPU's last-level cache.
class HostCache {
 public:
  /// Allocates 1.25 times `cache_bytes`. Throws std::bad_alloc.
  explicit HostCache(std::size_t cache_bytes = host_cache_bytes());

  /// Writes every cache line of that memory.
  void flush();
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  std::size_t size_bytes_;
  std::unique_ptr<unsigned char[]> memory_;
};

}  // namespace kymo::worker
