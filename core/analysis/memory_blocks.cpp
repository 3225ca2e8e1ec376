// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory_blocks.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace kymo::analysis {

using event::Allocation;
using event::MemoryAction;
using event::MemoryDevice;
using event::MemoryEvent;
using event::Segment;

namespace {

std::uint64_t end_of(std::uint64_t address, std::int64_t bytes) {
  return address + static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 1));
}

/// Returns the first element of the map that extends beyond `begin`.
template <typename Map>
typename Map::iterator first_reaching(Map& map, std::uint64_t begin) {
  auto found = map.upper_bound(begin);
  if (found != map.begin() && std::prev(found)->second.end > begin) --found;
  return found;
}

}  // namespace

MemoryBlocks::MemoryBlocks(const event::Memory& memory, event::Trace& trace)
    : memory_(memory), scope_finder_(trace), tags_by_time_(memory.tags.size()) {
  std::iota(tags_by_time_.begin(), tags_by_time_.end(), std::size_t{0});
  std::ranges::stable_sort(tags_by_time_, {}, [&](std::size_t tag) { return memory_.tags[tag].time_ns; });
  for (std::size_t i = 0; i < memory.events.size(); ++i) {
    apply_tags_before(memory.events[i].time_ns);
    take(static_cast<std::int64_t>(i));
  }
  apply_tags_before(INT64_MAX);
  for (std::size_t i = 0; i < allocations_.size(); ++i) {
    if (!allocations_[i].free_sequence) lifetimes_[i].newest_step = newest_step_;
  }
  std::ranges::sort(segments_, {}, [](const Segment& each) { return std::tie(each.sequence, each.address); });
}

void MemoryBlocks::take(std::int64_t sequence) {
  const MemoryEvent& event = memory_.events[static_cast<std::size_t>(sequence)];
  newest_step_ = std::max(newest_step_, event.position.step);
  switch (event.action) {
    case MemoryAction::kAllocate:
      add_block(sequence);
      break;
    case MemoryAction::kFreeRequested:
      request_free(sequence);
      break;
    case MemoryAction::kFreeCompleted:
      complete_free(sequence);
      break;
    case MemoryAction::kSegmentAllocate:
    case MemoryAction::kSegmentMap:
      add_segment(sequence);
      break;
    case MemoryAction::kSegmentFree:
    case MemoryAction::kSegmentUnmap:
      if (remove_segments(event.address, end_of(event.address, event.bytes), sequence) == 0)
        ++anomalies_.unknown_segments;
      break;
    case MemoryAction::kOutOfMemory:
      break;
  }
  previous_[static_cast<std::size_t>(event.device)] = &event;
}

std::int64_t MemoryBlocks::allocated_size(const MemoryEvent& event) const {
  const MemoryEvent* previous = previous_[static_cast<std::size_t>(event.device)];
  // If this block is all that the counters count, they were 0 before the first event.
  const std::int64_t before = previous ? previous->after.allocated_bytes : 0;
  const bool known = previous || event.after.requested_bytes == event.bytes;
  const std::int64_t grown = event.after.allocated_bytes - before;
  return known && grown >= event.bytes ? grown : event.bytes;
}

void MemoryBlocks::add_block(std::int64_t sequence) {
  const MemoryEvent& event = memory_.events[static_cast<std::size_t>(sequence)];
  LiveBlocks& blocks = blocks_of(event.device);
  // Use the requested size: the change of the counters would be too large if events were dropped in between.
  const std::uint64_t end = end_of(event.address, event.bytes);
  free_range(blocks, event.address, end, sequence);
  Allocation block;
  block.sequence = sequence;
  block.device = event.device;
  block.address = event.address;
  block.requested_bytes = event.bytes;
  block.allocated_bytes = allocated_size(event);
  block.alloc_ns = event.time_ns;
  block.stream = event.stream;
  block.thread = event.position.thread;
  block.step = event.position.step;
  block.phase = scope_finder_.phase(event.position);
  block.scope = scope_finder_.locate(event.position).scope;
  block.op = event.op;
  block.stack = event.stack;
  blocks.emplace(event.address, Live{allocations_.size(), end, false});
  allocations_.push_back(block);
  lifetimes_.emplace_back();
}

void MemoryBlocks::end_lifetime(const Live& live, std::int64_t sequence, bool by_event) {
  const MemoryEvent& event = memory_.events[static_cast<std::size_t>(sequence)];
  Allocation& block = allocations_[live.index];
  block.free_ns = event.time_ns;
  block.free_sequence = sequence;
  block.free_step = event.position.step;
  block.free_phase = scope_finder_.phase(event.position);
  lifetimes_[live.index].newest_step = newest_step_;
  lifetimes_[live.index].returned_to_allocator = by_event;
}

void MemoryBlocks::request_free(std::int64_t sequence) {
  const MemoryEvent& event = memory_.events[static_cast<std::size_t>(sequence)];
  LiveBlocks& blocks = blocks_of(event.device);
  const auto found = blocks.find(event.address);
  if (found == blocks.end() || found->second.requested) {
    ++anomalies_.unknown_blocks;
    return;
  }
  end_lifetime(found->second, sequence, true);
  found->second.requested = true;
  // Host memory is not used asynchronously by streams.
  if (event.device == MemoryDevice::kCpu) complete_free(sequence);
}

void MemoryBlocks::complete_free(std::int64_t sequence) {
  const MemoryEvent& event = memory_.events[static_cast<std::size_t>(sequence)];
  LiveBlocks& blocks = blocks_of(event.device);
  const auto found = blocks.find(event.address);
  if (found == blocks.end()) {
    if (event.device == MemoryDevice::kCuda) ++anomalies_.unknown_blocks;
    return;
  }
  if (!found->second.requested) end_lifetime(found->second, sequence, true);
  Allocation& block = allocations_[found->second.index];
  block.reusable_ns = event.time_ns;
  block.reusable_sequence = sequence;
  blocks.erase(found);
}

void MemoryBlocks::free_range(LiveBlocks& blocks, std::uint64_t begin, std::uint64_t end, std::int64_t sequence) {
  auto stale = first_reaching(blocks, begin);
  while (stale != blocks.end() && stale->first < end) {
    ++anomalies_.overlapping_blocks;
    if (!stale->second.requested) end_lifetime(stale->second, sequence, false);
    Allocation& block = allocations_[stale->second.index];
    block.reusable_ns = memory_.events[static_cast<std::size_t>(sequence)].time_ns;
    block.reusable_sequence = sequence;
    stale = blocks.erase(stale);
  }
}

void MemoryBlocks::add_segment(std::int64_t sequence) {
  const MemoryEvent& event = memory_.events[static_cast<std::size_t>(sequence)];
  const std::uint64_t end = end_of(event.address, event.bytes);
  anomalies_.overlapping_segments += remove_segments(event.address, end, sequence);
  Segment segment;
  segment.sequence = sequence;
  segment.address = event.address;
  segment.bytes = event.bytes;
  segment.stream = event.stream;
  segment.alloc_ns = event.time_ns;
  live_segments_.emplace(event.address, Live{segments_.size(), end, false});
  segments_.push_back(segment);
}

std::int64_t MemoryBlocks::remove_segments(std::uint64_t begin, std::uint64_t end, std::int64_t sequence) {
  std::int64_t touched = 0;
  auto found = first_reaching(live_segments_, begin);
  while (found != live_segments_.end() && found->first < end) {
    const Live live = found->second;
    found = live_segments_.erase(found);
    const Segment whole = segments_[live.index];
    Segment& gone = segments_[live.index];
    gone.address = std::max(whole.address, begin);
    gone.bytes = static_cast<std::int64_t>(std::min(live.end, end) - gone.address);
    gone.free_ns = memory_.events[static_cast<std::size_t>(sequence)].time_ns;
    gone.free_sequence = sequence;
    keep_rest(whole, whole.address, begin);
    keep_rest(whole, end, live.end);
    ++touched;
  }
  return touched;
}

void MemoryBlocks::keep_rest(const Segment& whole, std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  Segment rest = whole;
  rest.address = begin;
  rest.bytes = static_cast<std::int64_t>(end - begin);
  live_segments_.emplace(begin, Live{segments_.size(), end, false});
  segments_.push_back(rest);
}

void MemoryBlocks::apply_tags_before(std::int64_t time_ns) {
  while (next_tag_ < tags_by_time_.size() && memory_.tags[tags_by_time_[next_tag_]].time_ns < time_ns) {
    apply(memory_.tags[tags_by_time_[next_tag_++]]);
  }
}

void MemoryBlocks::apply(const event::BlockTag& tag) {
  if (tag.address == 0) return;  // an empty tensor has no memory
  // The values in the interface of plugins begin at 1.
  if (tag.category < 1 || tag.category >= event::kMemoryCategories) {
    ++anomalies_.unknown_tags;
    return;
  }
  for (LiveBlocks& blocks : live_) {
    const auto found = first_reaching(blocks, tag.address);
    if (found == blocks.end() || found->first > tag.address || found->second.requested) continue;
    std::int32_t& known = lifetimes_[found->second.index].tag;
    const auto category = static_cast<std::int32_t>(tag.category - 1);
    // A collective may work on gradients or parameters in place.
    if (known < 0 || category != static_cast<std::int32_t>(event::MemoryCategory::kCommunication)) known = category;
    return;
  }
  ++anomalies_.unmatched_tags;
}

}  // namespace kymo::analysis
