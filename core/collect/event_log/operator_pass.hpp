// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "collect/event_log/call_clock.hpp"
#include "collect/event_log/operator_rows.hpp"
#include "collect/standpoint.hpp"
#include "event/records.hpp"
#include "event/trace.hpp"

namespace kymo::collect {

/// What one pass observes of operator calls: their numbers and, if it keeps them, their rows. ThreadCalls writes to it
/// from any thread.
class OperatorPass {
 public:
  /// Numbers calls and keeps nothing of those that ended. `standpoint` must outlive every call that may still begin.
  /// Times are relative to `run_start_ns` of the host's clock.
  OperatorPass(const Standpoint& standpoint, std::int64_t run_start_ns)
      : standpoint_(standpoint), run_start_ns_(run_start_ns) {}
  /// Before the pass begins: keep each call as a row, all within `bytes`, with its shapes or without. Throws
  /// Unavailable if the address space is not to be had.
  void keep_rows(std::int64_t bytes, bool with_shapes);

  bool keeps_rows() const noexcept { return rows_.has_value(); }
  bool keeps_shapes() const noexcept { return keeps_shapes_; }
  /// Touches memory that the next rows will be kept in. One thread at a time, outside timed stretches.
  void warm() noexcept;
  /// To be understood by finish().
  std::int64_t time() const noexcept { return clock_.read(); }
  /// A call could not be described, or there was no memory for it.
  void count_failed() noexcept { failed_.fetch_add(1, std::memory_order_relaxed); }

  /// Once, when no call begins any more: moves the rows into record.trace.operators, by number; calls that are still
  /// open have no end. What is missing becomes dropped records of `source`.
  void finish(event::PassRecord& record, const char* source);

 private:
  friend class ThreadCalls;
  friend class OperatorPasses;

  std::int64_t await_rows() const;
  std::int64_t move_rows(event::Trace& trace);

  const Standpoint& standpoint_;
  const std::int64_t run_start_ns_;
  std::int64_t most_bytes_ = 0;
  bool keeps_shapes_ = false;
  std::optional<OperatorRows> rows_;
  CallClock clock_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<std::int64_t> lost_{0};
  std::atomic<std::int64_t> failed_{0};
  OperatorPass* before_ = nullptr;
};

/// The passes of the process, one after the other. Each is kept for the life of the process, with the address space of
/// its rows: a call that began before its pass ended may still look at it and write to it. Never destroyed either,
/// since threads may outlive main().
class OperatorPasses {
 public:
  /// The pass that is under way, or nullptr. Any thread.
  OperatorPass* current() const noexcept { return current_.load(std::memory_order_acquire); }
  /// By one thread, as end(). Throws std::logic_error if a pass is under way.
  void begin(std::unique_ptr<OperatorPass> pass);
  /// No call belongs to the pass that asks for current() from now on. Returns the pass that was under way, or nullptr.
  OperatorPass* end() noexcept { return current_.exchange(nullptr); }

 private:
  std::atomic<OperatorPass*> current_{nullptr};
  OperatorPass* last_ = nullptr;
};

/// A call that is open on a thread.
struct OpenCall {
  const void* call = nullptr;  ///< the same when it ends
  std::int64_t number = -1;    ///< -1 if it could not be kept
  OperatorRow* row = nullptr;
  const char* name = "";
};

/// What one thread knows of its calls. Touched by its thread alone.
class ThreadCalls {
 public:
  bool belongs_to(const OperatorPass* pass) const noexcept { return pass_ == pass && pass != nullptr; }
  /// Forgets the pass that it belonged to before. Throws std::bad_alloc.
  void begin(OperatorPass& pass);

  /// Room for one more open call. Throws std::bad_alloc, and the calls below do not.
  void reserve() {
    if (open_.size() == open_.capacity()) open_.reserve(2 * open_.size() + 16);
  }
  /// False once the bound is reached. Throws std::bad_alloc.
  bool intern(std::string_view text, const RowText*& kept) { return writer_.intern(text, kept); }
  /// The row of a call that begins, for open_row(); nullptr once the bound is reached.
  OperatorRow* add(const RowText* name, const RowText* shapes, std::int64_t sequence) noexcept {
    if (!writer_.has_room()) return nullptr;
    // Before the row is touched: counting waits for what was stored before it, and the row's memory is still far away.
    const std::int64_t number = pass_->next_.fetch_add(1, std::memory_order_relaxed);
    OperatorRow& row = writer_.add();
    const Standpoint& here = pass_->standpoint_;
    row.number = static_cast<std::int32_t>(number);
    row.name = name;
    row.shapes = shapes;
    row.sequence = sequence;
    row.parent = open_.empty() ? -1 : static_cast<std::int32_t>(open_.back().number);
    row.step = here.step.load(std::memory_order_relaxed);
    row.phase = here.phase.load(std::memory_order_relaxed);
    row.range = standing_->range;
    return &row;
  }
  /// The call begins now. Its row, complete but for the start, is published.
  void open_row(const void* call, const char* name, OperatorRow& row) noexcept {
    open_.push_back({call, row.number, &row, name});
    row.start = pass_->time();
    writer_.publish();
  }
  /// A call that has no room for its row.
  void open_lost(const void* call, const char* name) noexcept {
    pass_->lost_.fetch_add(1, std::memory_order_relaxed);
    open_.push_back({call, -1, nullptr, name});
  }
  /// In a pass without rows. A block of memory that an operator's own parts made and used up is that operator's
  /// workspace: they all count as one call.
  void open_number(const void* call, const char* name) noexcept {
    const std::int64_t number =
        open_.empty() ? pass_->next_.fetch_add(1, std::memory_order_relaxed) : open_.front().number;
    open_.push_back({call, number, nullptr, name});
  }
  /// Calls above it never ended on this thread: asynchronous ones may end elsewhere.
  void close(const void* call, std::int64_t time) noexcept {
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (open_[i].call != call) continue;
      if (open_[i].row) open_[i].row->end.store(time, std::memory_order_relaxed);
      open_.resize(i);
      return;
    }
  }
  const OpenCall* innermost() const noexcept { return open_.empty() ? nullptr : &open_.back(); }

 private:
  OperatorPass* pass_ = nullptr;  // that the rest belongs to
  const ThreadStanding* standing_ = nullptr;
  std::vector<OpenCall> open_;
  RowWriter writer_;
};

}  // namespace kymo::collect
