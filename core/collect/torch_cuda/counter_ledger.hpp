// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "event/memory.hpp"

namespace kymo::collect {

/// What the counters of LibTorch's caching allocator were once each event was done, from what they read while it is
/// reported. The allocator reports (2.11) an allocation before any counter moves; a request to free after
/// allocated_bytes fell and before the others; a completed free before; a segment taken, mapped or unmapped after, and
/// a segment freed before reserved_bytes moves. So the rest of an event shows only in the reading of the next one,
/// which may itself have moved one counter by then. That one is told apart since active_bytes rises by the size of a
/// block exactly when allocated_bytes does, and never moves ahead of its report.
class CounterLedger {
 public:
  /// An event and the reading during its report. Returns the counters as they were once the event before it was done.
  event::MemoryState next(event::MemoryAction action, std::int64_t bytes, const event::MemoryState& reading);
  /// A reading after the last event; returns the counters once that one was done. The ledger then stands between
  /// events.
  event::MemoryState finish(const event::MemoryState& reading);
  /// The last event is not done yet as far as the ledger knows.
  bool is_open() const { return open_; }
  /// Readings that did not fit the events before them: something moved the counters without a report.
  std::int64_t disagreements() const { return disagreements_; }

 private:
  void settle(const event::MemoryState& reading);
  void check(std::int64_t& counter, std::int64_t reading);

  event::MemoryState state_;
  bool started_ = false;
  bool open_ = false;
  event::MemoryAction action_ = event::MemoryAction::kAllocate;  // of the open event
  std::int64_t bytes_ = 0;
  std::int64_t disagreements_ = 0;
};

}  // namespace kymo::collect
