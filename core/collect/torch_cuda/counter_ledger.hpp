// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "event/memory.hpp"

namespace kymo::collect {

/// Reconstructs the counters of LibTorch's CUDA caching allocator after each event from their values during the
/// reports. LibTorch 2.11 reports an allocation before any counter changes; a requested free after allocated_bytes
/// decreased and before the other counters change; a completed free before any counter changes; a segment allocation,
/// map or unmap after reserved_bytes changed; and a segment free before it changes. The remaining changes of an event
/// are thus visible only during the report of the next event, which may have changed one counter by then. That change
/// can be separated, because active_bytes increases by the size of a block exactly when allocated_bytes does, and never
/// changes before its report.
class CounterLedger {
 public:
  /// Adds an event and the counters during its report. Returns the counters after the previous event.
  event::MemoryState next(event::MemoryAction action, std::int64_t bytes, const event::MemoryState& reading);
  /// Adds the counters after the last event and returns them as they were after that event. No event is pending
  /// afterwards.
  event::MemoryState finish(const event::MemoryState& reading);
  /// Returns true if the last event is still pending.
  bool is_open() const { return open_; }
  /// Number of counter values that contradict the events: a counter changed without a report.
  std::int64_t disagreements() const { return disagreements_; }

 private:
  void settle(const event::MemoryState& reading);
  void check(std::int64_t& counter, std::int64_t reading);

  event::MemoryState state_;
  bool started_ = false;
  bool open_ = false;
  event::MemoryAction action_ = event::MemoryAction::kAllocate;  // action of the pending event
  std::int64_t bytes_ = 0;
  std::int64_t disagreements_ = 0;
};

}  // namespace kymo::collect
