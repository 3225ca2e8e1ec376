// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// Sorts the activities by their start and gives each activity and operator its step, phase, scope and the way it was
/// placed: an activity by its graph node if that was seen at capture, else by the launch that shares its correlation
/// id. Work launched by a backward node belongs to the forward scope in whose interval of sequence numbers (on the
/// forward thread) the node's number lies, innermost first; all else to the scope that was open on the launching
/// thread. A node without a number (gradient accumulation, the seed of the gradient) leaves the phase alone. For a
/// replayed graph the step is that of the launch and the rest is that of the node; a node captured outside of phases
/// takes the launch's phase, and one that was not seen at capture nothing else. An operator without an end gets that of
/// the operator around it, and counts as a loss. Activities that end before they start, or start before their launch by
/// more than the clocks' error, stay and are returned as losses, as are launches whose work never appeared in a
/// measured step and activities without any launch.
std::vector<event::Loss> attribute(event::Trace& trace);

}  // namespace kymo::analysis
