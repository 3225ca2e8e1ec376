// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// Fills derived.allocations, segments, memory_points and memory_phases of a record from its memory_trace. Returns a
/// DroppedRecords entry for inconsistencies: a free of a block that was never allocated, two live blocks at one
/// address, counters that disagree with the allocator's own peaks. Steps below `warmup` are warm-up. Categories: a tag
/// takes precedence (the last one during the lifetime of the block). An untagged block is an activation if it was
/// allocated by an operator in the first phase of a step (its forward pass), outlived that operator, and was freed by
/// the end of the next step (or the pass ended before); blocks that live longer are caches. A block allocated and freed
/// within the same outermost operator is workspace. All others are unknown. Points are thinned out as described in
/// memory_curve.hpp. Takes O(n log n) time for n events.
std::vector<event::DroppedRecords> derive_memory(event::PassRecord& record, std::int64_t warmup);

}  // namespace kymo::analysis
