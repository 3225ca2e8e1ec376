// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kymo::collect {

/// All memory that events of a pass may take, reserved at once and filled from both ends: activity buffers grow from
/// the bottom, launches from the top, and where they meet the bound is reached. Pages that were never written take no
/// memory. Safe for use from any thread.
class EventArena {
 public:
  /// Reserves `bytes`, rounded down to whole pages (at least one). Throws Unavailable if the address space is not to be
  /// had.
  explicit EventArena(std::int64_t bytes);
  ~EventArena();
  EventArena(const EventArena&) = delete;
  EventArena& operator=(const EventArena&) = delete;

  /// Memory of zeros, aligned to a page and rounded up to whole pages; nullptr once the bound is reached.
  std::byte* take_low(std::size_t bytes) noexcept;
  std::byte* take_high(std::size_t bytes) noexcept;
  /// Gives the pages back to the system: they read as zeros afterwards and still count as taken.
  static void release(std::byte* memory, std::size_t bytes) noexcept;

  std::size_t size_bytes() const noexcept;
  /// Touches pages that will be taken next, so that steps do not pay for them: so many bytes beyond what is taken at
  /// either end, once less than half of that is left; most calls do nothing. What lies there stays. One thread at a
  /// time, while others may take.
  void warm(std::size_t low_bytes, std::size_t high_bytes) noexcept;
  bool holds(const void* address) const noexcept;

 private:
  bool claim(std::uint64_t pages, bool low, std::uint64_t& before) noexcept;

  std::byte* memory_ = nullptr;
  std::uint64_t pages_ = 0;
  std::uint64_t warm_low_ = 0;  // pages from either end that were touched
  std::uint64_t warm_high_ = 0;
  std::atomic<std::uint64_t> taken_{0};  // pages from the top in the upper half, from the bottom in the lower
};

}  // namespace kymo::collect
