// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// Fills derived.allocations, segments, memory_points and memory_phases of a record from its memory_trace and returns
/// what made no sense (a block given back that was never handed out, two live blocks at one address, counters that
/// disagree with the allocator's own peaks) as losses. Steps below `warmup` are warm-up. Categories: a tag wins (the
/// last one on the block while it lived). Without one a block that was born in the first phase of a step (its forward
/// pass) within an operator, outlived that operator and was gone by the end of the next step (or the pass ended before)
/// is an activation: what is kept for longer is a cache; one that was born and given back within the same outermost
/// operator is workspace; all else is unknown. Points are thinned out as memory_curve.hpp says. Takes O(n log n) for n
/// events.
std::vector<event::Loss> derive_memory(event::PassRecord& record, std::int64_t warmup);

}  // namespace kymo::analysis
