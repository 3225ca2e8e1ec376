// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collect/collector.hpp"

namespace kymo::collect {

/// Installs an allocator in front of LibTorch's CPU allocator that records each block on all threads; LibTorch's own
/// memory reports reach only the threads that enabled them. Blocks may be freed at any time, also after
/// end_cpu_memory(). `setting.execution_context` must be set. Throws Unavailable if the current allocator cannot be
/// wrapped.
void record_cpu_memory(const PassSetting& setting);

/// Adds the events since the last call. Does nothing without a recording.
void add_new_cpu_memory(event::NewEvents& events);

/// Restores the previous allocator and moves the events into record.memory_trace. Events beyond
/// setting.how.memory_bytes are counted as dropped records of `source`. Does nothing without a recording.
void end_cpu_memory(event::PassRecord& record, const char* source);

}  // namespace kymo::collect
