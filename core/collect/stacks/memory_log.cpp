// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks/memory_log.hpp"

#include <utility>
#include <vector>

#include "base/text.hpp"

namespace kymo::collect {
namespace {

constexpr std::int64_t kStackShare = 4;
// Overhead of a string in addition to its characters: its entry and an index node.
constexpr std::int64_t kTextOverheadBytes = 96;

}  // namespace

MemoryLog::MemoryLog(std::int64_t max_bytes)
    : max_bytes_(max_bytes), bytes_left_(max_bytes - max_bytes / kStackShare), stacks_(max_bytes / kStackShare) {}

event::MemoryEvent* MemoryLog::add(event::MemoryEvent event, std::string_view op, const Stack* stack) {
  constexpr auto kEventBytes = static_cast<std::int64_t>(sizeof(event::MemoryEvent));
  if (bytes_left_ < kEventBytes) {
    ++dropped_;
    return nullptr;
  }
  bytes_left_ -= kEventBytes;
  const std::size_t texts = ops_.size();
  event.op = ops_.intern(op);
  if (ops_.size() > texts) bytes_left_ -= kTextOverheadBytes + static_cast<std::int64_t>(op.size());
  if (stack != nullptr) event.stack = stacks_.number(*stack);
  return &events_.add(std::move(event));
}

void MemoryLog::add_new(event::NewEvents& events, bool complete) {
  stacks_.add_new(added_stacks_, events.frames, events.stacks);
  const std::size_t end = complete || events_.size() == added_ ? events_.size() : events_.size() - 1;
  events_.each(added_, end, [&](const event::MemoryEvent& event) {
    event::MemoryEvent& added = events.memory_events.emplace_back(event);
    added.op = added_texts_.id(event.op, ops_, events.texts);
    if (event.stack >= 0) added.stack = added_stacks_.stacks[static_cast<std::size_t>(event.stack)];
  });
  added_ = end;
}

void MemoryLog::hand_over(event::PassRecord& record, const std::string& source) {
  event::Memory& memory = record.memory_trace;
  event::TranslatedTexts texts;
  StackTable::Kept kept;
  stacks_.add_new(kept, memory.frames, memory.stacks);
  memory.events.reserve(memory.events.size() + events_.size());
  events_.drain([&](event::MemoryEvent& event) {
    event.op = texts.id(event.op, ops_, record.trace.texts);
    if (event.stack >= 0) event.stack = kept.stacks[static_cast<std::size_t>(event.stack)];
    memory.events.push_back(std::move(event));
  });
  const std::string bound = " beyond the memory limit of " + format_bytes(max_bytes_);
  add_dropped(record.dropped_records, source, dropped_, "memory events" + bound);
  add_dropped(record.dropped_records, source, stacks_.dropped(), "call stacks of memory events" + bound);
  *this = MemoryLog();
}

}  // namespace kymo::collect
