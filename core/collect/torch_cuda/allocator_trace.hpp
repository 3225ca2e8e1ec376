// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include "collect/collector.hpp"

namespace kymo::collect {

/// Starts recording the events of LibTorch's CUDA caching allocator on one GPU. The allocator keeps its trackers
/// forever, so the first recording attaches one for the lifetime of the process; it costs each event an atomic load
/// while nothing is recorded. The allocator must be initialized (lazyInitDevice) and `setting.execution_context` must
/// be set. Throws c10::Error if the active allocator does not support trackers.
void record_allocator(const PassSetting& setting, c10::DeviceIndex device);

/// Ends the recording and moves the events into record.memory_trace, with dropped-record counts for `source`. Does
/// nothing without a recording.
void end_allocator_record(event::PassRecord& record, const char* source);

}  // namespace kymo::collect
