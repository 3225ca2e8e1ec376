// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "event/derived.hpp"
#include "event/records.hpp"
#include "event/trace.hpp"

namespace kymo::analysis {

/// Returns the GPU activity during each step and each of its phases. Activities must be attributed and sorted by start.
/// The interval of a step begins with the first activity launched in it and ends when the last one ends. A phase begins
/// with the first activity launched in it and ends where the next phase begins, or with the step. Phases without
/// activity are omitted; `other` appears if the step launched activities outside of phases. The phases thus partition
/// the step. All activities that run in an interval count, clipped to it, regardless of which step or phase launched
/// them; `kernels` and `kernel_ns` count the unclipped activities that start in it. For every row, end_ns - start_ns ==
/// compute_ns + comm_ns - overlap_ns + exposed_copy_ns + idle_ns. Rows are ordered by step, the whole step first, then
/// its phases by begin; work outside of steps has no row. `is_communication` holds, by string id, whether kernels of
/// that name are communication.
std::vector<event::StepActivity> step_activity(const event::Trace& trace, const std::vector<bool>& is_communication,
                                               std::int64_t warmup);

/// Returns the rows of step_activity() for a run on the host processors; empty if no operators were recorded.
/// Collectives must be attributed. Compute time is the time during which an operator runs on any thread, except within
/// a communication operator (whose name contains c10d, gloo or nccl). Communication time lasts from the call of a
/// collective until it is done. There are no copies and no kernels. The duration of a step is that of its sample.
/// Phases partition it: each begins where it first began and ends where the next one begins, or with the step. The time
/// before the first phase is `other` if anything ran, else part of that phase. Collectives that were queued on a device
/// or never ended do not count.
std::vector<event::StepActivity> host_activity(const event::PassRecord& record, std::int64_t warmup);

}  // namespace kymo::analysis
