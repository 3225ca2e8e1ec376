// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// Sorts the activities by start and sets step, phase, scope and attribution of each activity and operator. An activity
/// uses its graph node if its capture was recorded, otherwise the launch with the same correlation id. Work launched by
/// a backward node belongs to the innermost forward scope whose interval of sequence numbers (on the forward thread)
/// contains that of the node; other work belongs to the scope that was open on the launching thread. A node without a
/// sequence number (gradient accumulation, the gradient seed) only determines the phase. For a replayed graph, the step
/// is that of the launch and everything else is that of the node. A node captured outside of phases uses the launch's
/// phase; if its capture was not recorded, only the phase is set. An operator without an end gets the end of its parent
/// and is counted as a DroppedRecords entry. Also returned as DroppedRecords, but kept: activities that end before they
/// start, or that start before their launch by more than the clock error; launches in steps whose work was not
/// recorded; and activities without a launch.
std::vector<event::DroppedRecords> attribute(event::Trace& trace);

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
