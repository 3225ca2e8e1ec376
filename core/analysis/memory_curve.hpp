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

}  // namespace kymo::analysis
