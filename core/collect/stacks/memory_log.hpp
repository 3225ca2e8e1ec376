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

/// The memory events of a pass as they come, within a bound. Not safe for use from several threads.
class MemoryLog {
 public:
  /// `most_bytes` bounds what events and stacks take together; a quarter of it is for stacks.
  explicit MemoryLog(std::int64_t most_bytes = 0);

  /// Keeps the event; `op` is the operator it happened in, `stack` may be nullptr. The pointer stays valid until
  /// hand_over(); nullptr, and counted, if the bound is reached.
  event::MemoryEvent* add(event::MemoryEvent event, std::string_view op, const Stack* stack);
  /// Counts an event that was seen and could not be kept.
  void lose() { ++lost_; }
  /// Moves everything into the record, losses under the name of `source`, and leaves the log empty.
  void hand_over(event::PassRecord& record, const std::string& source);

 private:
  std::int64_t most_bytes_;
  std::int64_t bytes_left_;
  std::int64_t lost_ = 0;
  Chunks<event::MemoryEvent> events_;
  event::Texts ops_;
  StackTable stacks_;
};

}  // namespace kymo::collect
