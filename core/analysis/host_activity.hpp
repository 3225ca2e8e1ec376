// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// The rows of step_activity() for a run whose work the host's processors do: empty where no operators were recorded.
/// Collectives must be placed. It computes while an operator runs on any thread, but for the parts in which that thread
/// is in an operator of communication (its name holds c10d, gloo or nccl), and communicates from the call of a
/// collective until it is done; nothing is copied, and there are no kernels. A step lasts as its sample says. Phases
/// tile it: each begins where it first did and ends where the next one begins, the last one with the step; what comes
/// before the first is `other` if anything ran there, else part of the first. Collectives that were queued on a device
/// or never ended do not count.
std::vector<event::StepActivity> host_activity(const event::PassRecord& record, std::int64_t warmup);

}  // namespace kymo::analysis
