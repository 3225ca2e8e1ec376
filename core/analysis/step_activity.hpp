// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "event/derived.hpp"
#include "event/trace.hpp"

namespace kymo::analysis {

/// What the GPU did while each step and each of its phases ran there; activities must be placed and in order of
/// starting. The stretch of a step reaches from the start of the first activity that was launched in it to the end of
/// the last to end. A phase begins with the first activity that was launched in it and ends where the next phase
/// begins, the last one with the step; phases without activity do not occur, and `other` does if the step launched
/// something outside of phases. So the phases of a step tile it. Everything that ran in a stretch counts, clipped to
/// it, whichever step or phase launched it; `kernels` and `kernel_ns` count, unclipped, what started in it. For every
/// row end_ns - start_ns == compute_ns + comm_ns - overlap_ns + exposed_copy_ns + idle_ns. Steps come in order, the
/// whole step before its phases in order of beginning; work outside of steps has no row. `is_communication` says of
/// each text, by number, whether kernels of that name communicate.
std::vector<event::StepActivity> step_activity(const event::Trace& trace, const std::vector<bool>& is_communication,
                                               std::int64_t warmup);

}  // namespace kymo::analysis
