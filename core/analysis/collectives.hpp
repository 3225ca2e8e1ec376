// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// Sets step, phase and scope of each collective like attribute() does for launches, and the time during which this
/// rank worked on it. Without a stream, this is the time from the begin to the end of the call. On a stream, it spans
/// from the start of the first to the end of the last of its communication kernels: those that the thread of the call
/// launched before it returned, between its begin and that of the next call. In a group, nothing is launched until all
/// calls have begun, so all calls of a group share its kernels. Kernels that belong to no call are unchanged. Calls
/// without kernels, which are replayed by a graph or made by a single rank, keep start_ns and end_ns of -1. Activities
/// must be attributed. `is_communication` holds, by string id, whether kernels of that name are communication. Returns
/// a DroppedRecords entry for calls that never ended, for calls without a stream that ended before the kernels they
/// launched, and, if kernels were recorded, for calls without kernels.
std::vector<event::DroppedRecords> attribute_collectives(event::Trace& trace,
                                                         const std::vector<bool>& is_communication);

}  // namespace kymo::analysis
