// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory_timeline.hpp"

#include <algorithm>
#include <ranges>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/memory_blocks.hpp"
#include "analysis/saved_tensors.hpp"

namespace kymo::analysis {

using event::Allocation;
using event::DroppedRecords;
using event::MemoryCategory;
using event::MemoryDevice;
using event::MemoryEvent;

namespace {

/// The first phase of each step.
class FirstPhases {
 public:
  explicit FirstPhases(const event::Trace& trace) {
    for (const event::Range& range : trace.ranges) {
      if (!range.is_phase || range.step < 0) continue;
      const auto [found, is_new] = first_.try_emplace(range.step, range.start_ns, range.phase);
      if (!is_new) found->second = std::min(found->second, std::pair{range.start_ns, range.phase});
    }
  }
  bool is_first(std::int32_t step, std::int32_t phase) const {
    const auto found = first_.find(step);
    return phase >= 0 && found != first_.end() && found->second.second == phase;
  }

 private:
  std::unordered_map<std::int32_t, std::pair<std::int64_t, std::int32_t>> first_;
};

/// Returns false if the block is kept for later steps, like a cache.
bool is_gone_by_the_next_step(const Allocation& block, const BlockLifetime& lifetime) {
  if (!block.free_step || *block.free_step < 0) return lifetime.newest_step == block.step;
  return *block.free_step <= block.step + 1;
}

/// Returns, by number of the stack, whether LibTorch allocated a workspace of cuBLAS there, which it keeps for later
/// calls. Its functions differ between versions: getCurrentCUDABlasHandle, allocateCUDABlasWorkspace ...
std::vector<bool> blas_workspace_stacks(const event::Memory& memory) {
  constexpr std::size_t kInnermostFrames = 12;
  std::vector<bool> allocates;
  for (const event::StackFrame& frame : memory.frames)
    allocates.push_back(frame.function.starts_with("at::cuda::") &&
                        frame.function.find("CUDABlas") != std::string::npos);
  std::vector<bool> result;
  for (const std::vector<std::uint32_t>& stack : memory.stacks)
    result.push_back(std::ranges::any_of(stack | std::views::take(kInnermostFrames), [&](std::uint32_t frame) {
      return frame < allocates.size() && allocates[frame];
    }));
  return result;
}

MemoryCategory lifetime_category(const Allocation& block, const BlockLifetime& lifetime,
                                 const std::vector<MemoryEvent>& events, const FirstPhases& first_phases,
                                 std::int32_t optimizer, std::int32_t recompute) {
  const std::int64_t op = events[static_cast<std::size_t>(block.sequence)].position.op;
  if (op < 0) return MemoryCategory::kUnknown;
  if (block.free_sequence && !lifetime.returned_to_allocator)
    return MemoryCategory::kUnknown;  // the true end of its lifetime is unknown
  if (block.free_sequence && events[static_cast<std::size_t>(*block.free_sequence)].position.op == op)
    return MemoryCategory::kWorkspace;
  if (block.phase >= 0 && block.phase == optimizer && block.free_phase == optimizer && block.free_step == block.step)
    return MemoryCategory::kWorkspace;
  const bool from_forward =
      (block.phase >= 0 && block.phase == recompute) || first_phases.is_first(block.step, block.phase);
  return from_forward && is_gone_by_the_next_step(block, lifetime) ? MemoryCategory::kActivation
                                                                   : MemoryCategory::kUnknown;
}

void categorize(MemoryBlocks& blocks, const event::PassRecord& record) {
  const FirstPhases first_phases(record.trace);
  const std::int32_t optimizer = record.trace.phase_named("optimizer");
  const std::int32_t recompute = record.trace.phase_named(event::kRecomputePhase);
  const std::vector<bool> blas_workspace = blas_workspace_stacks(record.memory_trace);
  std::vector<Allocation>& allocations = blocks.allocations();
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    Allocation& block = allocations[i];
    const BlockLifetime& lifetime = blocks.lifetimes()[i];
    if (lifetime.tag >= 0) {
      block.category = static_cast<MemoryCategory>(lifetime.tag);
      block.category_source = "tag";
      continue;
    }
    if (block.stack >= 0 && static_cast<std::size_t>(block.stack) < blas_workspace.size() &&
        blas_workspace[static_cast<std::size_t>(block.stack)]) {
      block.category = MemoryCategory::kWorkspace;
      block.category_source = "stack";
      continue;
    }
    block.category = lifetime_category(block, lifetime, record.memory_trace.events, first_phases, optimizer, recompute);
    if (block.category != MemoryCategory::kUnknown) block.category_source = "lifetime";
  }
}

void add_anomalies(const MemoryAnomalies& odd, std::vector<DroppedRecords>& dropped_records) {
  const auto add = [&](std::int64_t count, const char* detail) {
    add_dropped(dropped_records, "memory", count, detail);
  };
  add(odd.unknown_blocks, "frees of blocks that were not allocated during the pass");
  add(odd.overlapping_blocks, "blocks whose memory was allocated again without a free event");
  add(odd.unknown_segments, "frees of segments that were not allocated during the pass");
  add(odd.overlapping_segments, "segments that were allocated again without a free event");
  add(odd.unknown_tags, "memory tags with an unknown category");
  add(odd.unmatched_tags, "memory tags at addresses without a live block");
}

/// The peaks of the events must equal those of the allocator's statistics.
void compare_peaks(const event::Memory& memory, std::vector<DroppedRecords>& dropped_records) {
  if (!memory.cuda_peaks) return;
  event::MemoryState seen;
  for (const MemoryEvent& event : memory.events) {
    if (event.device != MemoryDevice::kCuda) continue;
    seen.requested_bytes = std::max(seen.requested_bytes, event.after.requested_bytes);
    seen.allocated_bytes = std::max(seen.allocated_bytes, event.after.allocated_bytes);
    seen.active_bytes = std::max(seen.active_bytes, event.after.active_bytes);
    seen.reserved_bytes = std::max(seen.reserved_bytes, event.after.reserved_bytes);
  }
  const event::MemoryState& reported = *memory.cuda_peaks;
  const auto compare = [&](const char* counter, std::int64_t ours, std::int64_t theirs) {
    if (ours == theirs) return;
    dropped_records.push_back({"memory", -1,
                               std::string("CUDA allocator events peak at ") + std::to_string(ours) + " bytes " +
                                   counter + ", its statistics at " + std::to_string(theirs)});
  };
  compare("requested", seen.requested_bytes, reported.requested_bytes);
  compare("allocated", seen.allocated_bytes, reported.allocated_bytes);
  compare("active", seen.active_bytes, reported.active_bytes);
  compare("reserved", seen.reserved_bytes, reported.reserved_bytes);
}

}  // namespace

std::vector<DroppedRecords> derive_memory(event::PassRecord& record, std::int64_t warmup) {
  const event::Memory& memory = record.memory_trace;
  event::Derived& derived = record.derived;
  MemoryBlocks blocks(memory, record.trace);
  categorize(blocks, record);
  std::vector<DroppedRecords> dropped_records;
  add_anomalies(blocks.anomalies(), dropped_records);
  compare_peaks(memory, dropped_records);
  derived.allocations = std::move(blocks.allocations());
  derived.segments = std::move(blocks.segments());
  derived.kept_tensors = kept_tensors(record, derived.allocations);
  derived.memory_points.clear();
  derived.memory_phases.clear();
  derived.memory_parts.clear();
  for (const MemoryDevice device : {MemoryDevice::kCuda, MemoryDevice::kCpu}) {
    CategoryCurve curve(derived.allocations, device);
    for (event::MemoryPoint& point : memory_points(memory.events, device, curve))
      derived.memory_points.push_back(point);
    for (event::MemoryPhase& phase : memory_phases(record, device, curve, warmup))
      derived.memory_phases.push_back(std::move(phase));
    for (event::MemoryPart& part : memory_parts(record, device)) derived.memory_parts.push_back(std::move(part));
  }
  std::ranges::sort(derived.memory_points, {}, &event::MemoryPoint::sequence);
  return dropped_records;
}

}  // namespace kymo::analysis
