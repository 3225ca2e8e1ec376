// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// Returns the rows of step_activity() for a run on the host processors; empty if no operators were recorded.
/// Collectives must be attributed. Compute time is the time during which an operator runs on any thread, except within
/// a communication operator (whose name contains c10d, gloo or nccl). Communication time lasts from the call of a
/// collective until it is done. There are no copies and no kernels. The duration of a step is that of its sample.
/// Phases partition it: each begins where it first began and ends where the next one begins, or with the step. The time
/// before the first phase is `other` if anything ran, else part of that phase. Collectives that were queued on a device
/// or never ended do not count.
std::vector<event::StepActivity> host_activity(const event::PassRecord& record, std::int64_t warmup);

}  // namespace kymo::analysis
