// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <vector>

#include "collect/event_log/event_arena.hpp"

namespace kymo::collect {

/// A string that rows refer to; its characters follow it in memory.
struct RowText {
  std::uint32_t size = 0;
  mutable std::uint32_t id = 0;  ///< for the reader of the rows

  std::string_view view() const { return {reinterpret_cast<const char*>(this + 1), size}; }
};

/// An operator call as recorded by its thread: plain numbers and pointers, nothing to copy or free. The size of one
/// cache line, since every line written here evicts one of the workload's.
struct alignas(64) OperatorRow {
  std::int64_t start = 0;             ///< reading of a CallClock
  std::atomic<std::int64_t> end{-1};  ///< -1 while the call is active
  const RowText* name = nullptr;      ///< nullptr for an empty name
  const RowText* shapes = nullptr;
  std::int64_t sequence = -1;
  std::int32_t number = -1;
  std::int32_t parent = -1;
  std::int32_t step = -1;
  std::int32_t phase = -1;
  std::int32_t range = -1;
  std::uint32_t backward : 1 = 0;
  /// Backward node: LibTorch's id of the thread that created it. Other calls: the number of the Python stack plus 1.
  std::uint32_t node_thread_or_stack : 31 = 0;
};

/// The rows of one pass. Threads fill their own chunks without locks (RowWriter). The chunks belong to this store and
/// survive their threads. The address space stays reserved for the lifetime of the store, so that late writes after
/// release() do no harm.
class OperatorRows {
 public:
  /// Rows and their strings take at most `bytes`, rounded to pages, and at most as many rows as there are numbers.
  /// Throws Unavailable if the address space is not available.
  explicit OperatorRows(std::int64_t bytes);

  /// Prefaults memory for the next rows. One thread at a time, outside of timed regions.
  void warm() noexcept;

  /// Number of readable rows. Any thread.
  std::int64_t published() const noexcept;
  /// Calls visit(const OperatorRow&, std::uint32_t thread) for every published row; the order of threads is
  /// unspecified. Any thread, concurrently with writers.
  template <class Visit>
  void each(Visit visit) const;
  /// The same for the rows that no earlier call has visited. One thread at a time.
  template <class Visit>
  void each_new(Visit visit);
  /// Returns the pages to the system. Rows and strings become invalid.
  void release() noexcept;

 private:
  friend class RowWriter;
  struct Chunk;

  /// Returns a new chunk for the calling thread that each() visits from now on, or nullptr if the memory is exhausted.
  Chunk* take_chunk(std::uint32_t thread) noexcept;

  EventArena arena_;
  std::byte* const begin_;
  const std::size_t chunk_bytes_;
  std::atomic<Chunk*> last_{nullptr};
};

/// Chunk header: rows grow upwards from it, strings downwards from the end of the chunk.
struct alignas(OperatorRow) OperatorRows::Chunk {
  Chunk* before = nullptr;
  std::atomic<std::uint32_t> used{0};
  std::uint32_t thread = 0;
  std::uint32_t visited = 0;  // by each_new()

  OperatorRow* rows() { return reinterpret_cast<OperatorRow*>(this + 1); }
};

template <class Visit>
void OperatorRows::each(Visit visit) const {
  for (Chunk* chunk = last_.load(std::memory_order_acquire); chunk; chunk = chunk->before) {
    const std::uint32_t used = chunk->used.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) visit(chunk->rows()[i], chunk->thread);
  }
}

template <class Visit>
void OperatorRows::each_new(Visit visit) {
  for (Chunk* chunk = last_.load(std::memory_order_acquire); chunk; chunk = chunk->before) {
    const std::uint32_t used = chunk->used.load(std::memory_order_acquire);
    for (; chunk->visited < used; ++chunk->visited) visit(chunk->rows()[chunk->visited], chunk->thread);
  }
}

/// Writes rows of one thread to a store. Accessed only by that thread.
class RowWriter {
 public:
  /// Switches to another store. `thread` is the number that each() passes with the rows. Throws std::bad_alloc.
  void begin(OperatorRows& rows, std::uint32_t thread);

  /// Returns true if add() has a row, false if the memory is exhausted.
  bool has_space() noexcept { return static_cast<std::size_t>(limit_ - next_) >= sizeof(OperatorRow) || open_chunk(); }
  /// Returns the thread's next row, empty and invisible until publish(). Call has_space() first.
  OperatorRow& add() noexcept {
    auto* const row = new (next_) OperatorRow;
    next_ += sizeof(OperatorRow);
    // Rows are written sequentially, each once; prefetch the row after the next one.
    __builtin_prefetch(next_ + sizeof(OperatorRow), 1);
    return *row;
  }
  void publish() noexcept { chunk_->used.store(++used_, std::memory_order_release); }

  /// Interns a string per thread; `kept` is nullptr for an empty string. Returns false if the memory is exhausted. Do
  /// not call it between has_space() and publish(), because it may open a new chunk. Throws std::bad_alloc.
  bool intern(std::string_view text, const RowText*& kept);

 private:
  struct Slot {
    std::size_t hash = 0;
    const RowText* text = nullptr;
  };

  bool open_chunk() noexcept;
  const RowText* keep(std::string_view text) noexcept;
  void grow();

  OperatorRows* store_ = nullptr;
  std::uint32_t thread_ = 0;
  OperatorRows::Chunk* chunk_ = nullptr;
  std::uint32_t used_ = 0;
  std::byte* next_ = nullptr;   // next row
  std::byte* limit_ = nullptr;  // begin of the strings
  std::vector<Slot> slots_;     // the size is a power of two; at most half are used
  std::size_t texts_ = 0;
};

}  // namespace kymo::collect
