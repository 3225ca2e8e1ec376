// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include "collect/collector.hpp"

namespace kymo::collect {

/// Records what LibTorch's caching allocator does on one GPU. The allocator keeps its trackers for good, so there is
/// one for the life of the process, attached by the first recording, which costs each event an atomic load while
/// nothing is recorded. The allocator must have been started up (lazyInitDevice) and `setting.standpoint` be set.
/// Throws c10::Error if the allocator that is in use has no trackers.
void record_allocator(const PassSetting& setting, c10::DeviceIndex device);

/// Ends the recording and moves the events into record.memory_trace; losses are under the name of `source`. Without a
/// recording it does nothing.
void end_allocator_record(event::PassRecord& record, const char* source);

}  // namespace kymo::collect
