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

/// A text that rows refer to; its characters follow it in memory.
struct RowText {
  std::uint32_t size = 0;

  std::string_view view() const { return {reinterpret_cast<const char*>(this + 1), size}; }
};

/// A call of an operator as its thread notes it: plain numbers and pointers, nothing to copy or to free. As large as a
/// line of the cache, since each line written here drives one of the workload's out.
struct alignas(64) OperatorRow {
  std::int64_t start = 0;             ///< readings of a CallClock
  std::atomic<std::int64_t> end{-1};  ///< -1 while the call is open
  const RowText* name = nullptr;      ///< nullptr: empty
  const RowText* shapes = nullptr;
  std::int64_t sequence = -1;
  std::int32_t number = -1;
  std::int32_t parent = -1;
  std::int32_t step = -1;
  std::int32_t phase = -1;
  std::int32_t range = -1;
  std::uint32_t backward : 1 = 0;
  std::uint32_t node_thread : 31 = 0;  ///< of a backward node: LibTorch's number of the thread that made it
};

/// The rows of one watch. Threads fill chunks of their own without a lock (RowWriter); the chunks belong to the store,
/// so nothing is lost when a thread ends. Address space stays reserved as long as the store lives: whoever still writes
/// after release() does no harm.
class OperatorRows {
 public:
  /// Rows and their texts take at most `bytes`, rounded to pages, and never more than there are numbers for. Throws
  /// Unavailable if the address space is not to be had.
  explicit OperatorRows(std::int64_t bytes);

  /// Touches memory that rows will take next. One thread at a time, outside timed stretches.
  void warm() noexcept;

  /// How many rows may be read. Any thread.
  std::int64_t published() const noexcept;
  /// visit(const OperatorRow&, std::uint32_t thread) for every row that is published, in no order of threads. Any
  /// thread, while others write.
  template <class Visit>
  void each(Visit visit) const;
  /// Gives the pages back to the system. Rows and texts are gone.
  void release() noexcept;

 private:
  friend class RowWriter;
  struct Chunk;

  /// A chunk of the calling thread, known to each() from now on; nullptr once the bound is reached.
  Chunk* take_chunk(std::uint32_t thread) noexcept;

  EventArena arena_;
  std::byte* const begin_;
  const std::size_t chunk_bytes_;
  std::atomic<Chunk*> last_{nullptr};
};

/// Lies at the head of its memory: rows grow from it upwards, texts from the end downwards.
struct alignas(OperatorRow) OperatorRows::Chunk {
  Chunk* before = nullptr;
  std::atomic<std::uint32_t> used{0};
  std::uint32_t thread = 0;

  OperatorRow* rows() { return reinterpret_cast<OperatorRow*>(this + 1); }
};

template <class Visit>
void OperatorRows::each(Visit visit) const {
  for (Chunk* chunk = last_.load(std::memory_order_acquire); chunk; chunk = chunk->before) {
    const std::uint32_t used = chunk->used.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) visit(chunk->rows()[i], chunk->thread);
  }
}

/// One thread's way to write to a store. Touched by its thread alone.
class RowWriter {
 public:
  /// Forgets the store that it wrote to before. `thread` is the number that each() gives with its rows. Throws
  /// std::bad_alloc.
  void begin(OperatorRows& rows, std::uint32_t thread);

  /// Whether add() has a row to give: false once the bound is reached.
  bool has_room() noexcept { return static_cast<std::size_t>(limit_ - next_) >= sizeof(OperatorRow) || open_chunk(); }
  /// The thread's next row, empty. Nobody sees it before publish(). Only after has_room().
  OperatorRow& add() noexcept {
    auto* const row = new (next_) OperatorRow;
    next_ += sizeof(OperatorRow);
    // Rows are written once, one after the other: what the next but one takes is on its way by then.
    __builtin_prefetch(next_ + sizeof(OperatorRow), 1);
    return *row;
  }
  void publish() noexcept { chunk_->used.store(++used_, std::memory_order_release); }

  /// The text, kept once for each thread; nullptr if it is empty. False once the bound is reached. Not between
  /// has_room() and publish(): it may open another chunk. Throws std::bad_alloc.
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
  std::byte* next_ = nullptr;   // the next row
  std::byte* limit_ = nullptr;  // where the texts begin
  std::vector<Slot> slots_;     // a power of two; at most half are taken
  std::size_t texts_ = 0;
};

}  // namespace kymo::collect
