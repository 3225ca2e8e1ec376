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

}  // namespace kymo::analysis
