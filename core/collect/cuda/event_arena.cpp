// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/event_arena.hpp"

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

}  // namespace

EventArena::EventArena(std::int64_t bytes) {
  const std::uint64_t wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)) / kPageBytes;
  pages_ = std::clamp<std::uint64_t>(wanted, 1, kLowerHalf);
  void* memory = mmap(nullptr, size_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw Unavailable("no room for events: " + format_bytes(bytes) + " of address space are not to be had");
  memory_ = static_cast<std::byte*>(memory);
}

EventArena::~EventArena() { munmap(memory_, size_bytes()); }

void EventArena::warm(std::size_t low_bytes, std::size_t high_bytes) noexcept {
  const auto touch = [](std::byte* from, const std::byte* to) {
    for (volatile std::byte* page = from; page < to; page += kPageBytes) *page = std::byte{0};
  };
  const std::size_t low = std::min(low_bytes, size_bytes());
  const std::size_t high = std::min(high_bytes, size_bytes());
  touch(memory_, memory_ + low);
  touch(memory_ + size_bytes() - high, memory_ + size_bytes());
}

std::size_t EventArena::size_bytes() const noexcept { return pages_ * kPageBytes; }

bool EventArena::holds(const void* address) const noexcept {
  const auto* place = static_cast<const std::byte*>(address);
  return place >= memory_ && place < memory_ + size_bytes();
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

void EventArena::release(std::byte* memory, std::size_t bytes) noexcept { madvise(memory, pages_for(bytes) * kPageBytes, MADV_DONTNEED); }

}  // namespace kymo::collect
