// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

using CategoryBytes = std::array<std::int64_t, event::kMemoryCategories>;

/// Allocated sizes of the live blocks of a device by category, after each event.
class CategoryCurve {
 public:
  CategoryCurve(const std::vector<event::Allocation>& allocations, event::MemoryDevice device);
  void rewind();
  /// Advances to the time after an event; sequences must not decrease.
  const CategoryBytes& after(std::int64_t sequence);

 private:
  struct Change {
    std::int64_t sequence = 0;
    std::int64_t bytes = 0;
    std::size_t category = 0;
  };
  std::vector<Change> changes_;
  std::size_t next_ = 0;
  CategoryBytes bytes_{};
};

/// Maximum number of points of a device's curves, without the peaks of each phase.
inline constexpr std::size_t kMaxMemoryPoints = 4'000;

/// Selects the events of a device that the curves are drawn from. A point is kept, together with its predecessor, if a
/// counter or category changed since the last kept point by more than 1/1000 of the range of the allocated bytes. If
/// there are more than kMaxMemoryPoints, time is divided into equal intervals, and the first, last, lowest and highest
/// allocated point of each are kept, so that a plot of the curve is unchanged (the M4 aggregation of Jugel, Jerzak,
/// Hackenbroich and Markl, VLDB 2014). The first and the last event of the pass and the peak of each counter in each
/// phase of each step are always kept.
std::vector<event::MemoryPoint> memory_points(const std::vector<event::MemoryEvent>& events, event::MemoryDevice device,
                                              CategoryCurve& curve);

/// Returns the peaks by step and phase of a device that has events; steps below `warmup` are warm-up. An event belongs
/// to the current step and phase of the workload. The memory allocated at the begin of a phase counts, so that a phase
/// without events has a row too. Outside of steps (step -1), the rows `step` and `other` are equal.
std::vector<event::MemoryPhase> memory_phases(const event::PassRecord& record, event::MemoryDevice device,
                                              CategoryCurve& curve, std::int64_t warmup);

/// Returns what the memory of a device consists of at the highest peak of the pass, from the allocations.
std::vector<event::MemoryPart> memory_parts(const event::PassRecord& record, event::MemoryDevice device);

/// Fills derived.allocations, segments, memory_points, memory_phases, memory_parts and kept_tensors of a record from
/// its memory_trace. Returns a DroppedRecords entry for inconsistencies: a free of a block that was never allocated,
/// two live blocks at one address, counters that disagree with the allocator's own peaks. Steps below `warmup` are
/// warm-up. Categories: a tag takes precedence (the last one during the lifetime of the block). An untagged block is an
/// activation if it was allocated by an operator in the first phase of a step (its forward pass) or in its phase
/// `recompute`, outlived that operator, and was freed by the end of the next step (or the pass ended before); blocks
/// that live longer are caches. A block is workspace if it was allocated and freed within the same outermost operator
/// or by operators of one optimizer phase, or if its stack shows that LibTorch allocated it for cuBLAS. All others are
/// unknown. Points are thinned out as described at memory_points(). Takes O(n log n) time for n events.
std::vector<event::DroppedRecords> derive_memory(event::PassRecord& record, std::int64_t warmup);

}  // namespace kymo::analysis
