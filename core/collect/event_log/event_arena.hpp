// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kymo::collect {

/// The memory for all events of a pass, reserved at once and filled from both ends: activity buffers grow from the
/// bottom, launches from the top, until they meet. Pages that were never written use no physical memory. Thread-safe.
class EventArena {
 public:
  /// Reserves `bytes`, rounded down to whole pages (at least one). Throws Unavailable if the address space is not
  /// available.
  explicit EventArena(std::int64_t bytes);
  ~EventArena();
  EventArena(const EventArena&) = delete;
  EventArena& operator=(const EventArena&) = delete;

  /// Returns zeroed, page-aligned memory, rounded up to whole pages, or nullptr if the arena is full.
  std::byte* take_low(std::size_t bytes) noexcept;
  std::byte* take_high(std::size_t bytes) noexcept;
  /// Returns the physical pages to the system. They read as zeros afterwards and remain taken.
  static void release(std::byte* memory, std::size_t bytes) noexcept;

  std::size_t size_bytes() const noexcept;
  /// Prefaults pages that will be taken next, so that steps do not pay for the page faults: the given number of bytes
  /// beyond the taken memory at either end, once less than half of them are left. Most calls do nothing. Contents are
  /// preserved. One thread at a time; other threads may take memory concurrently.
  void warm(std::size_t low_bytes, std::size_t high_bytes) noexcept;
  bool holds(const void* address) const noexcept;

 private:
  bool claim(std::uint64_t pages, bool low, std::uint64_t& before) noexcept;

  std::byte* memory_ = nullptr;
  std::uint64_t pages_ = 0;
  std::uint64_t warm_low_ = 0;  // prefaulted pages from either end
  std::uint64_t warm_high_ = 0;
  std::atomic<std::uint64_t> taken_{
      0};  // pages taken from the top in the upper half, from the bottom in the lower half
};

}  // namespace kymo::collect
