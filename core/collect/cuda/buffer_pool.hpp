// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "collect/event_log/event_arena.hpp"

namespace kymo::collect {

/// The buffers that CUPTI fills with activity records. Once the arena's bound is reached it hands out a few small
/// buffers again and again, whose records are counted and thrown away, so that the records before them are kept and
/// nothing grows. Safe for use from any thread.
class BufferPool {
 public:
  struct Buffer {
    std::uint8_t* memory = nullptr;
    std::size_t bytes = 0;
  };
  using CountRecords = std::int64_t (*)(std::uint8_t* memory, std::size_t valid_bytes);

  /// Bytes of a buffer that suits a bound: 4 MB, less if the bound holds only few of them.
  static std::size_t buffer_bytes_for(std::int64_t bound_bytes);

  /// `arena` must outlive the pool; `count` says how many records a discarded buffer held.
  BufferPool(EventArena& arena, std::size_t buffer_bytes, CountRecords count);

  /// A buffer to fill; {nullptr, 0} if there is none, and whoever asked must drop what it wanted to write.
  Buffer request();
  /// A buffer of request() comes back with `valid_bytes` of records; `dropped` more had no room at all.
  void complete(std::uint8_t* memory, std::size_t valid_bytes, std::int64_t dropped);

  /// The filled buffers in order of completion, which are the caller's from here on: give each to EventArena::release
  /// once it was read.
  std::vector<Buffer> take_filled();
  /// Records that were dropped or discarded so far.
  std::int64_t lost() const;

 private:
  std::size_t scrap_at(const std::uint8_t* memory) const;

  EventArena& arena_;
  const std::size_t buffer_bytes_;
  const std::size_t scrap_bytes_;
  const CountRecords count_;
  mutable std::mutex mutex_;
  std::vector<std::uint8_t*> scraps_;
  std::vector<bool> scrap_in_use_;
  std::vector<std::uint8_t*> empty_;  // came back without records
  std::vector<Buffer> filled_;
  std::int64_t lost_ = 0;
};

}  // namespace kymo::collect
