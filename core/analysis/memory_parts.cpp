// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <tuple>

#include "analysis/memory_timeline.hpp"

namespace kymo::analysis {

using event::Allocation;
using event::MemoryPart;

namespace {

constexpr const char* kOutsideSteps = "outside";

/// The outermost scope of a path, with * for the index of a repeated one: block_* of block_3/attention.
std::string outermost(const std::string& path) {
  std::string name = path.substr(0, path.find('/'));
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last != std::string::npos && last + 1 < name.size()) name.replace(last + 1, std::string::npos, "*");
  return name;
}

std::string phase_of(const Allocation& block, const std::vector<std::string>& phases) {
  if (block.step < 0) return kOutsideSteps;
  const auto phase = static_cast<std::size_t>(block.phase);
  return block.phase >= 0 && phase < phases.size() ? phases[phase] : event::kOtherPhase;
}

/// The first event after which the most memory is allocated; -1 without events.
std::int64_t peak_of(const std::vector<event::MemoryEvent>& events, event::MemoryDevice device) {
  std::int64_t highest = -1, at = -1;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].device != device || events[i].after.allocated_bytes <= highest) continue;
    highest = events[i].after.allocated_bytes;
    at = static_cast<std::int64_t>(i);
  }
  return at;
}

}  // namespace

std::vector<MemoryPart> memory_parts(const event::PassRecord& record, event::MemoryDevice device) {
  const std::vector<event::MemoryEvent>& events = record.memory_trace.events;
  const std::int64_t peak = peak_of(events, device);
  if (peak < 0) return {};
  std::map<std::tuple<event::MemoryCategory, std::string, std::string>, std::int64_t> bytes;
  std::int64_t rest = events[static_cast<std::size_t>(peak)].after.allocated_bytes;
  for (const Allocation& block : record.derived.allocations) {
    if (block.device != device || block.sequence > peak || (block.free_sequence && *block.free_sequence <= peak))
      continue;
    const std::string scope = block.scope == event::kNoText ? "" : outermost(record.trace.texts.text(block.scope));
    bytes[{block.category, phase_of(block, record.trace.phases), scope}] += block.allocated_bytes;
    rest -= block.allocated_bytes;
  }
  // Memory from before the recording.
  if (rest > 0) bytes[{event::MemoryCategory::kUnknown, kOutsideSteps, ""}] += rest;
  std::vector<MemoryPart> parts;
  for (const auto& [key, size] : bytes)
    parts.push_back({device, std::get<0>(key), std::get<1>(key), std::get<2>(key), size});
  return parts;
}

}  // namespace kymo::analysis
