// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "collect/event_log/clock_conversion.hpp"
#include "collect/event_log/event_arena.hpp"
#include "collect/execution_context.hpp"
#include "event/trace.hpp"

namespace kymo::collect {

/// Log of launches, written by the launching threads without locks. Each thread fills its own chunks, which the log
/// owns, so that they survive the thread.
class LaunchLog {
 public:
  /// `arena` and `execution_context` must outlive the log, and the log must outlive every thread that may append. Times
  /// are relative to `run_start_ns` on the host clock.
  LaunchLog(EventArena& arena, const ExecutionContext& execution_context, std::int64_t run_start_ns);
  ~LaunchLog();
  LaunchLog(const LaunchLog&) = delete;
  LaunchLog& operator=(const LaunchLog&) = delete;

  /// Records the time and context at the begin of a launching call. Counts the launch as dropped if there is no memory
  /// for it. Any thread.
  void append(std::uint32_t correlation_id, event::LaunchKind kind) noexcept;
  /// Marks the call that this thread appended last as returned.
  void close() noexcept;
  /// Removes that call if it has not returned, because it is being captured into a graph and launches nothing.
  void retract() noexcept;
  /// Adds the launches since the last call to the end of `launches`. A launch on another thread that is retracted later
  /// may be among them. One thread at a time, while others append.
  void add_new(std::vector<event::Launch>& launches);
  /// Moves all launches to the end of `launches`, grouped by thread and in each thread's order. Call it once, when no
  /// thread appends any more.
  void take(std::vector<event::Launch>& launches);
  std::int64_t dropped() const;

 private:
  struct Chunk;
  struct ThreadLog;

  ThreadLog* log_of_this_thread() noexcept;
  Chunk* new_chunk(ThreadLog& thread_log) noexcept;
  void copy(Chunk& chunk, std::uint32_t first, std::uint32_t end, std::vector<event::Launch>& launches) const;

  EventArena& arena_;
  const ExecutionContext& execution_context_;
  const std::int64_t run_start_ns_;
  CallClock clock_;
  const std::size_t chunk_bytes_;
  const std::uint64_t number_;  // distinguishes logs that reuse an address
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadLog>> thread_logs_;
  std::atomic<std::int64_t> dropped_without_log_{0};
};

}  // namespace kymo::collect
