// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks/memory_log.hpp"

#include <utility>
#include <vector>

#include "base/text.hpp"

namespace kymo::collect {
namespace {

constexpr std::int64_t kStackShare = 4;
// Overhead of a string in addition to its characters: its entry and an index node.
constexpr std::int64_t kBytesBesideText = 96;

}  // namespace

MemoryLog::MemoryLog(std::int64_t most_bytes)
    : most_bytes_(most_bytes), bytes_left_(most_bytes - most_bytes / kStackShare), stacks_(most_bytes / kStackShare) {}

event::MemoryEvent* MemoryLog::add(event::MemoryEvent event, std::string_view op, const Stack* stack) {
  constexpr auto kEventBytes = static_cast<std::int64_t>(sizeof(event::MemoryEvent));
  if (bytes_left_ < kEventBytes) {
    ++lost_;
    return nullptr;
  }
  bytes_left_ -= kEventBytes;
  const std::size_t texts = ops_.size();
  event.op = ops_.intern(op);
  if (ops_.size() > texts) bytes_left_ -= kBytesBesideText + static_cast<std::int64_t>(op.size());
  if (stack != nullptr) event.stack = stacks_.number(*stack);
  return &events_.add(std::move(event));
}

void MemoryLog::hand_over(event::PassRecord& record, const std::string& source) {
  event::Memory& memory = record.memory_trace;
  std::vector<event::TextId> texts(ops_.size() + 1, event::kNoText);
  for (event::TextId id = 1; id <= ops_.size(); ++id) texts[id] = record.trace.texts.intern(ops_.text(id));
  const std::int32_t first_stack = stacks_.append_to(memory);
  memory.events.reserve(memory.events.size() + events_.size());
  events_.drain([&](event::MemoryEvent& event) {
    event.op = texts[event.op];
    if (event.stack >= 0) event.stack += first_stack;
    memory.events.push_back(std::move(event));
  });
  const std::string bound = " beyond the memory limit of " + format_bytes(most_bytes_);
  if (lost_ > 0) record.losses.push_back({source, lost_, "memory events" + bound});
  if (stacks_.lost() > 0) record.losses.push_back({source, stacks_.lost(), "call stacks of memory events" + bound});
  *this = MemoryLog();
}

}  // namespace kymo::collect
