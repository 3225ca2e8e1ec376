// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "collect/event_log/event_arena.hpp"

namespace kymo::collect {

/// Buffers that CUPTI fills with activity records. When the arena is full, the pool reuses a few small buffers, whose
/// records are counted and discarded, so that earlier records are kept and memory does not grow. Thread-safe.
class BufferPool {
 public:
  struct Buffer {
    std::uint8_t* memory = nullptr;
    std::size_t bytes = 0;
  };
  using CountRecords = std::int64_t (*)(std::uint8_t* memory, std::size_t valid_bytes);

  /// Returns the buffer size for a memory limit: 4 MB, or less if only a few of these would fit.
  static std::size_t buffer_bytes_for(std::int64_t bound_bytes);

  /// `arena` must outlive the pool. `count` returns the number of records in a discarded buffer.
  BufferPool(EventArena& arena, std::size_t buffer_bytes, CountRecords count);

  /// Returns an empty buffer, or {nullptr, 0} if there is none; the caller must then drop its records.
  Buffer request();
  /// Returns a buffer from request() with `valid_bytes` of records; `dropped` more records did not fit.
  void complete(std::uint8_t* memory, std::size_t valid_bytes, std::int64_t dropped);

  /// Returns the filled buffers in order of completion and transfers ownership. Pass each to EventArena::release()
  /// after reading it.
  std::vector<Buffer> take_filled();
  /// Number of records dropped or discarded so far.
  std::int64_t dropped() const;

 private:
  std::size_t spare_at(const std::uint8_t* memory) const;

  EventArena& arena_;
  const std::size_t buffer_bytes_;
  const std::size_t spare_bytes_;
  const CountRecords count_;
  mutable std::mutex mutex_;
  std::vector<std::uint8_t*> spares_;
  std::vector<bool> spare_in_use_;
  std::vector<std::uint8_t*> empty_;  // returned without records
  std::vector<Buffer> filled_;
  std::int64_t dropped_ = 0;
};

}  // namespace kymo::collect
