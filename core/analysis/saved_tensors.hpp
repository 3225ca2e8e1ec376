// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// The tensors that autograd keeps, in the order in which the forward pass created the nodes, each storage counted
/// once: at the first node that keeps it. A node belongs to the scope that created it. What a storage holds follows
/// from its memory block, one of `allocations` (with categories): a parameter or an input by its tag; an activation if
/// it was allocated in the step after its first phase began; an input, if before; otherwise something else, such as a
/// buffer.
std::vector<event::KeptTensor> kept_tensors(event::PassRecord& record,
                                            const std::vector<event::Allocation>& allocations);

}  // namespace kymo::analysis
