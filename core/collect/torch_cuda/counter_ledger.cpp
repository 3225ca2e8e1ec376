// SPDX-License-Identifier: Apache-2.0
#include "collect/torch_cuda/counter_ledger.hpp"

namespace kymo::collect {

using event::MemoryAction;
using event::MemoryState;

namespace {

bool moves_reserved_first(MemoryAction action) {
  return action == MemoryAction::kSegmentAllocate || action == MemoryAction::kSegmentMap ||
         action == MemoryAction::kSegmentUnmap;
}

}  // namespace

void CounterLedger::settle(const MemoryState& reading) {
  if (!started_) state_ = reading;
  started_ = true;
  if (open_ && action_ == MemoryAction::kAllocate) state_.allocated_bytes += reading.active_bytes - state_.active_bytes;
  if (open_ && action_ == MemoryAction::kSegmentFree) state_.reserved_bytes -= bytes_;
  state_.requested_bytes = reading.requested_bytes;
  state_.active_bytes = reading.active_bytes;
  open_ = false;
}

void CounterLedger::check(std::int64_t& counter, std::int64_t reading) {
  if (counter != reading) ++disagreements_;
  counter = reading;
}

MemoryState CounterLedger::next(MemoryAction action, std::int64_t bytes, const MemoryState& reading) {
  settle(reading);
  if (action != MemoryAction::kFreeRequested) check(state_.allocated_bytes, reading.allocated_bytes);
  if (!moves_reserved_first(action)) check(state_.reserved_bytes, reading.reserved_bytes);
  const MemoryState before = state_;
  state_.allocated_bytes = reading.allocated_bytes;
  state_.reserved_bytes = reading.reserved_bytes;
  action_ = action;
  bytes_ = bytes;
  open_ = true;
  return before;
}

MemoryState CounterLedger::finish(const MemoryState& reading) {
  settle(reading);
  check(state_.allocated_bytes, reading.allocated_bytes);
  check(state_.reserved_bytes, reading.reserved_bytes);
  return state_;
}

}  // namespace kymo::collect
