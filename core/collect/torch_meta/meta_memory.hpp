// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collect/collector.hpp"

namespace kymo::collect {

/// Records the memory that tensors on the device meta would take on the device of the pass, as the allocator of that
/// device would. Addresses are made up. Throws Unavailable.
void record_meta_memory(const PassSetting& setting);
/// Moves the events into the record.
void end_meta_memory(event::PassRecord& record, const char* source);

}  // namespace kymo::collect
