// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "collect/event_log/clock_conversion.hpp"
#include "collect/event_log/operator_rows.hpp"
#include "collect/execution_context.hpp"
#include "event/records.hpp"
#include "event/trace.hpp"

namespace kymo::collect {

/// The operator calls of one pass: their count and, optionally, their rows. ThreadCalls writes to it from any thread.
class OperatorPass {
 public:
  /// Numbers calls without keeping them. `execution_context` must outlive every call that may still begin. Times are
  /// relative to `run_start_ns` on the host clock.
  OperatorPass(const ExecutionContext& execution_context, std::int64_t run_start_ns)
      : execution_context_(execution_context), run_start_ns_(run_start_ns) {}
  /// Keeps each call as a row, with or without input shapes, within `bytes` of memory. Call it before the pass begins.
  /// Throws Unavailable if the address space is not available.
  void keep_rows(std::int64_t bytes, bool with_shapes);

  bool keeps_rows() const noexcept { return rows_.has_value(); }
  bool keeps_shapes() const noexcept { return keeps_shapes_; }
  /// Prefaults memory for the next rows. One thread at a time, outside of timed regions.
  void warm() noexcept;
  /// Returns a clock reading, which finish() converts.
  std::int64_t time() const noexcept { return clock_.read(); }
  /// Counts a call that could not be described or for which there was no memory.
  void count_failed() noexcept { failed_.fetch_add(1, std::memory_order_relaxed); }

  /// Adds the calls since the last time, with the times that are known; calls that are still active have no end. Their
  /// nodes are those of the rows (see event::pass_nodes_down()). Always pass the same object. One thread at a time.
  void add_new(event::NewEvents& events);

  /// Moves the rows into record.trace.operators, ordered by number; calls that are still active have no end. Missing
  /// calls are counted as dropped records of `source`. Call it once, when no more calls begin.
  void finish(event::PassRecord& record, const char* source);

 private:
  friend class ThreadCalls;
  friend class OperatorPasses;

  std::int64_t await_rows() const;
  std::int64_t move_rows(event::Trace& trace);
  void set_times(event::Operator& call, const OperatorRow& row) const;

  const ExecutionContext& execution_context_;
  const std::int64_t run_start_ns_;
  std::int64_t max_bytes_ = 0;
  bool keeps_shapes_ = false;
  std::optional<OperatorRows> rows_;
  CallClock clock_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<std::int64_t> dropped_{0};
  std::atomic<std::int64_t> failed_{0};
  OperatorPass* before_ = nullptr;
};

/// The passes of the process, in sequence. Each pass and the address space of its rows is kept until the process exits,
/// because a call that began before its pass ended may still access it. This object is never destroyed either, since
/// threads may outlive main().
class OperatorPasses {
 public:
  /// Returns the current pass, or nullptr. Any thread.
  OperatorPass* current() const noexcept { return current_.load(std::memory_order_acquire); }
  /// Makes `pass` current. Call begin() and end() from one thread. Throws std::logic_error if a pass is current.
  void begin(std::unique_ptr<OperatorPass> pass);
  /// Ends the current pass and returns it, or nullptr. Calls that query current() afterwards belong to no pass.
  OperatorPass* end() noexcept { return current_.exchange(nullptr); }

 private:
  std::atomic<OperatorPass*> current_{nullptr};
  OperatorPass* last_ = nullptr;
};

/// An active call on a thread.
struct OpenCall {
  const void* call = nullptr;  ///< identifies the call when it ends
  std::int64_t number = -1;    ///< -1 if the call was dropped
  OperatorRow* row = nullptr;
  const char* name = "";
  std::int32_t stack = -1;  ///< number of its Python stack
  std::int32_t phase = -1;  ///< in a pass without rows
  bool is_node = false;     ///< in a pass without rows: of the backward pass
};

/// The calls of one thread. Accessed only by that thread.
class ThreadCalls {
 public:
  bool belongs_to(const OperatorPass* pass) const noexcept { return pass_ == pass && pass != nullptr; }
  /// Switches to another pass. Throws std::bad_alloc.
  void begin(OperatorPass& pass);

  /// Reserves memory for one more active call. Throws std::bad_alloc; the functions below do not throw.
  void reserve() {
    if (open_.size() == open_.capacity()) open_.reserve(2 * open_.size() + 16);
  }
  /// Returns false if the memory is exhausted. Throws std::bad_alloc.
  bool intern(std::string_view text, const RowText*& kept) { return writer_.intern(text, kept); }
  /// Returns the row of a new call, for open_row(), or nullptr if the memory is exhausted.
  OperatorRow* add(const RowText* name, const RowText* shapes, std::int64_t sequence) noexcept {
    if (!writer_.has_space()) return nullptr;
    // Increment before writing the row: the atomic increment waits for preceding stores, which miss the cache.
    const std::int64_t number = pass_->next_.fetch_add(1, std::memory_order_relaxed);
    OperatorRow& row = writer_.add();
    const ExecutionContext& here = pass_->execution_context_;
    row.number = static_cast<std::int32_t>(number);
    row.name = name;
    row.shapes = shapes;
    row.sequence = sequence;
    row.parent = open_.empty() ? -1 : static_cast<std::int32_t>(open_.back().number);
    row.step = here.step.load(std::memory_order_relaxed);
    row.phase = here.phase.load(std::memory_order_relaxed);
    row.range = thread_position_->range;
    return &row;
  }
  /// Begins the call and publishes its row, which is complete except for the start time and stack set here.
  void open_row(const void* call, const char* name, OperatorRow& row, std::int32_t stack = -1) noexcept {
    open_.push_back({call, row.number, &row, name, stack});
    if (row.backward == 0) row.node_thread_or_stack = static_cast<std::uint32_t>(stack + 1);
    row.start = pass_->time();
    writer_.publish();
  }
  /// Begins a call whose row was dropped.
  void open_dropped(const void* call, const char* name) noexcept {
    pass_->dropped_.fetch_add(1, std::memory_order_relaxed);
    open_.push_back({call, -1, nullptr, name});
  }
  /// Begins a call in a pass without rows. Nested calls share the number of the outermost one, so that a block
  /// allocated and freed by parts of an operator counts as that operator's workspace. A node of the backward pass, and
  /// what it recomputes in a phase of its own, do not count as parts of another node.
  void open_number(const void* call, const char* name, bool is_node, std::int32_t stack = -1) noexcept {
    const std::int32_t phase = pass_->execution_context_.phase.load(std::memory_order_relaxed);
    const bool is_part = !open_.empty() && !is_node && open_.back().phase == phase;
    const std::int64_t number = is_part ? open_.back().number : pass_->next_.fetch_add(1, std::memory_order_relaxed);
    open_.push_back({call, number, nullptr, name, stack, phase, is_node});
  }
  /// Ends a call, and drops calls above it, which never ended on this thread; asynchronous calls may end on another
  /// one.
  void close(const void* call, std::int64_t time) noexcept {
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (open_[i].call != call) continue;
      if (open_[i].row) open_[i].row->end.store(time, std::memory_order_relaxed);
      open_.resize(i);
      return;
    }
  }
  /// Whether a node of the backward pass is active, in a pass without rows.
  bool is_in_node() const noexcept { return std::ranges::any_of(open_, &OpenCall::is_node); }
  const OpenCall* innermost() const noexcept { return open_.empty() ? nullptr : &open_.back(); }

 private:
  OperatorPass* pass_ = nullptr;  // pass that the other members belong to
  const ThreadPosition* thread_position_ = nullptr;
  std::vector<OpenCall> open_;
  RowWriter writer_;
};

}  // namespace kymo::collect
