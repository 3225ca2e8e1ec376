// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "collect/stacks/chunks.hpp"
#include "collect/stacks/stack_table.hpp"
#include "event/records.hpp"
#include "event/texts.hpp"

namespace kymo::collect {

/// The memory events of a pass, in order and within a memory limit. Not thread-safe.
class MemoryLog {
 public:
  /// `max_bytes` limits the memory of events and stacks; a quarter of it is reserved for stacks.
  explicit MemoryLog(std::int64_t max_bytes = 0);

  /// Adds an event; `op` is the operator it occurred in, `stack` may be nullptr. Returns a pointer that is valid until
  /// hand_over(), or nullptr if the limit is reached, which counts the event as dropped.
  event::MemoryEvent* add(event::MemoryEvent event, std::string_view op, const Stack* stack);
  /// Counts an observed event that could not be kept.
  void count_dropped() { ++dropped_; }
  /// Moves all events into the record, with dropped-record counts for `source`, and clears the log.
  void hand_over(event::PassRecord& record, const std::string& source);

 private:
  std::int64_t max_bytes_;
  std::int64_t bytes_left_;
  std::int64_t dropped_ = 0;
  Chunks<event::MemoryEvent> events_;
  event::Texts ops_;
  StackTable stacks_;
};

}  // namespace kymo::collect
