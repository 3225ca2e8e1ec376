// SPDX-License-Identifier: Apache-2.0
#include "collect/event_log/event_arena.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "base/text.hpp"
#include "collect/collector.hpp"

namespace kymo::collect {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::uint64_t kLowerHalf = 0xffffffffULL;
constexpr int kHalfBits = 32;

constexpr std::uint64_t pages_for(std::size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes; }

/// Another thread may take and write to a page concurrently, so existing contents must not change.
void touch(std::byte* memory, std::uint64_t pages) noexcept {
#ifdef MADV_POPULATE_WRITE
  if (madvise(memory, pages * kPageBytes, MADV_POPULATE_WRITE) == 0) return;
#endif
  for (std::uint64_t page = 0; page < pages; ++page) {
    // The compare-exchange accesses the page for writing even if it finds a non-zero value.
    auto expected = std::byte{0};
    std::atomic_ref<std::byte>(memory[page * kPageBytes])
        .compare_exchange_strong(expected, std::byte{0}, std::memory_order_relaxed);
  }
}

}  // namespace

EventArena::EventArena(std::int64_t bytes) {
  const std::uint64_t wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)) / kPageBytes;
  pages_ = std::clamp<std::uint64_t>(wanted, 1, kLowerHalf);
  void* memory =
      mmap(nullptr, size_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Unavailable("cannot reserve memory for events: " + format_bytes(bytes) +
                      " of address space are not available");
  memory_ = static_cast<std::byte*>(memory);
}

EventArena::~EventArena() { munmap(memory_, size_bytes()); }

void EventArena::warm(std::size_t low_bytes, std::size_t high_bytes) noexcept {
  const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  const auto until = [this](std::uint64_t already, std::uint64_t used, std::size_t ahead) {
    const bool enough = already >= std::min(used + ahead / kPageBytes / 2, pages_);
    return enough ? already : std::min(used + ahead / kPageBytes, pages_);
  };
  const std::uint64_t low = until(warm_low_, taken & kLowerHalf, low_bytes);
  const std::uint64_t high = until(warm_high_, taken >> kHalfBits, high_bytes);
  if (low > warm_low_) touch(memory_ + warm_low_ * kPageBytes, low - warm_low_);
  if (high > warm_high_) touch(memory_ + (pages_ - high) * kPageBytes, high - warm_high_);
  warm_low_ = low;
  warm_high_ = high;
}

std::size_t EventArena::size_bytes() const noexcept { return pages_ * kPageBytes; }

bool EventArena::holds(const void* address) const noexcept {
  const auto* position = static_cast<const std::byte*>(address);
  return position >= memory_ && position < memory_ + size_bytes();
}

bool EventArena::claim(std::uint64_t pages, bool low, std::uint64_t& before) noexcept {
  std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t bottom = taken & kLowerHalf;
    const std::uint64_t top = taken >> kHalfBits;
    if (pages > pages_ - bottom - top) return false;
    before = low ? bottom : top;
    const std::uint64_t after = taken + (low ? pages : pages << kHalfBits);
    if (taken_.compare_exchange_weak(taken, after, std::memory_order_relaxed)) return true;
  }
}

std::byte* EventArena::take_low(std::size_t bytes) noexcept {
  std::uint64_t before = 0;
  return claim(pages_for(bytes), true, before) ? memory_ + before * kPageBytes : nullptr;
}

std::byte* EventArena::take_high(std::size_t bytes) noexcept {
  std::uint64_t before = 0;
  const std::uint64_t pages = pages_for(bytes);
  return claim(pages, false, before) ? memory_ + (pages_ - before - pages) * kPageBytes : nullptr;
}

void EventArena::release(std::byte* memory, std::size_t bytes) noexcept {
  madvise(memory, pages_for(bytes) * kPageBytes, MADV_DONTNEED);
}

}  // namespace kymo::collect
