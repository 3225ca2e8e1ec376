// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collect/collector.hpp"

namespace kymo::collect {

/// Puts an allocator in front of LibTorch's CPU allocator that notes each block, on all threads: LibTorch's own reports
/// reach only the threads that asked for them. Blocks may be given back at any time, also after end_cpu_memory().
/// `setting.standpoint` must be set. Throws Unavailable if the allocator that is in place cannot be wrapped.
void record_cpu_memory(const PassSetting& setting);

/// Puts the former allocator back and moves the events into record.memory_trace; what went beyond
/// setting.how.memory_bytes is a loss under the name of `source`. Without a recording it does nothing.
void end_cpu_memory(event::PassRecord& record, const char* source);

}  // namespace kymo::collect
