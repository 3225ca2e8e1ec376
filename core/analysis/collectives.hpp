// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// Gives each collective its step, phase and scope, as attribute() gives them to a launch, and the time in which this
/// rank worked on it. Without a stream that is from the call to its end. On a stream it is from the start of the first
/// to the end of the last of the kernels of communication that were launched on the thread of the call before it had
/// returned: between its begin and the next one's, or, as in a group nothing is launched until all its calls were
/// begun, those of the group, which all its calls share. Kernels that no call claims stay as they are, and calls
/// without one keep start_ns and end_ns of -1: those that a graph replays, or that one rank makes alone. Activities
/// must be placed. `is_communication` says of each text, by number, whether kernels of that name communicate. Returns
/// as losses the calls that never ended, those without a stream that ended before the kernels they launched, and where
/// kernels were recorded those of which none was seen.
std::vector<event::Loss> place_collectives(event::Trace& trace, const std::vector<bool>& is_communication);

}  // namespace kymo::analysis
