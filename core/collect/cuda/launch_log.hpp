// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "collect/cuda/event_arena.hpp"
#include "event/trace.hpp"

namespace kymo::collect {

/// Launches as they are made, written by the launching threads without a lock: each thread fills chunks of its own, which the log owns, so
/// that nothing is lost when a thread ends.
class LaunchLog {
 public:
  /// `arena` must outlive the log, and the log every thread that may still append.
  explicit LaunchLog(EventArena& arena);
  ~LaunchLog();
  LaunchLog(const LaunchLog&) = delete;
  LaunchLog& operator=(const LaunchLog&) = delete;

  /// From any thread, when a launching call begins. Counts the launch as lost if there is no room for it.
  void append(const event::Launch& launch) noexcept;
  /// The call that the calling thread appended last has returned.
  void close() noexcept;
  /// That call, if it is still open, launches nothing: it is being captured into a graph. Takes it back.
  void retract() noexcept;
  /// Once, when nothing is to be appended any more: moves all launches to the end of `launches`, thread by thread and in each thread's
  /// order.
  void take(std::vector<event::Launch>& launches);
  std::int64_t lost() const;

 private:
  struct Chunk;
  struct ThreadPart;

  ThreadPart* part_of_this_thread() noexcept;
  Chunk* new_chunk(ThreadPart& part) noexcept;

  EventArena& arena_;
  const std::size_t chunk_bytes_;
  const std::uint64_t number_;  // tells logs apart, also at the same address
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadPart>> parts_;
  std::atomic<std::int64_t> lost_without_part_{0};
};

}  // namespace kymo::collect
