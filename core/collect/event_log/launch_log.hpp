// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "collect/event_log/call_clock.hpp"
#include "collect/event_log/event_arena.hpp"
#include "collect/standpoint.hpp"
#include "event/trace.hpp"

namespace kymo::collect {

/// Launches as they are made, written by the launching threads without a lock: each thread fills chunks of its own,
/// which the log owns, so that nothing is lost when a thread ends.
class LaunchLog {
 public:
  /// `arena` and `standpoint` must outlive the log, and the log every thread that may still append. Times are relative
  /// to `run_start_ns` of the host's clock.
  LaunchLog(EventArena& arena, const Standpoint& standpoint, std::int64_t run_start_ns);
  ~LaunchLog();
  LaunchLog(const LaunchLog&) = delete;
  LaunchLog& operator=(const LaunchLog&) = delete;

  /// From any thread, when a launching call begins: notes the time and where the thread stands. Counts the launch as
  /// lost if there is no room for it.
  void append(std::uint32_t correlation_id, event::LaunchKind kind) noexcept;
  /// The call that the calling thread appended last has returned.
  void close() noexcept;
  /// That call, if it is still open, launches nothing: it is being captured into a graph. Takes it back.
  void retract() noexcept;
  /// Once, when nothing is to be appended any more: moves all launches to the end of `launches`, thread by thread and
  /// in each thread's order.
  void take(std::vector<event::Launch>& launches);
  std::int64_t lost() const;

 private:
  struct Chunk;
  struct ThreadPart;

  ThreadPart* part_of_this_thread() noexcept;
  Chunk* new_chunk(ThreadPart& part) noexcept;
  void take_chunk(Chunk& chunk, std::vector<event::Launch>& launches) const;

  EventArena& arena_;
  const Standpoint& standpoint_;
  const std::int64_t run_start_ns_;
  CallClock clock_;
  const std::size_t chunk_bytes_;
  const std::uint64_t number_;  // tells logs apart, also at the same address
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadPart>> parts_;
  std::atomic<std::int64_t> lost_without_part_{0};
};

}  // namespace kymo::collect
