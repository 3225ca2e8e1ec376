// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

using CategoryBytes = std::array<std::int64_t, event::kMemoryCategories>;

/// Allocated sizes of the live blocks of one device by category, from event to event.
class CategoryCurve {
 public:
  CategoryCurve(const std::vector<event::Allocation>& allocations, event::MemoryDevice device);
  void rewind();
  /// Goes on to the moment after an event; sequences must not fall.
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

/// Most points of the curves of one device, without the highest points of each phase.
inline constexpr std::size_t kMostMemoryPoints = 4'000;

/// Which events of a device the curves are drawn from. A point is kept, with the one before it, where a counter or
/// category has moved since the last kept point by more than 1/1000 of the range of the allocated bytes. If these are
/// more than kMostMemoryPoints, time is cut into equal stretches and of each the first, last, lowest and highest
/// allocated point stay, so that a picture of the curve is the same (the aggregation M4 of Jugel, Jerzak, Hackenbroich
/// and Markl, VLDB 2014). The first and the last event of the pass and the highest point of each counter in each phase
/// of each step are always kept.
std::vector<event::MemoryPoint> memory_points(const std::vector<event::MemoryEvent>& events, event::MemoryDevice device,
                                              CategoryCurve& curve);

/// Peaks by step and phase of a device that has events; steps below `warmup` are warm-up. An event belongs to the step
/// and phase that the workload stood in; what was allocated when a phase began counts among its values, so that a phase
/// without events has a row too. Outside of steps (step -1) the rows `step` and `other` are alike.
std::vector<event::MemoryPhase> memory_phases(const event::PassRecord& record, event::MemoryDevice device,
                                              CategoryCurve& curve, std::int64_t warmup);

}  // namespace kymo::analysis
