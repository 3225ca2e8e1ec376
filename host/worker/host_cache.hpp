// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace kymo::worker {

/// Size of this machine's largest CPU cache in bytes; a guess that is rather too large where the system does not tell.
std::size_t host_cache_bytes();

/// Fills the CPU's last-level cache with something else.
class HostCache {
 public:
  /// Holds memory of a quarter more than `cache_bytes`; throws std::bad_alloc.
  explicit HostCache(std::size_t cache_bytes = host_cache_bytes());

  /// Writes every line of that memory.
  void flush();
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  std::size_t size_bytes_;
  std::unique_ptr<unsigned char[]> memory_;
};

}  // namespace kymo::worker
