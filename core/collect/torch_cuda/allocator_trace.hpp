// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>

#include "collect/collector.hpp"
#include "event/memory.hpp"

namespace kymo::collect {

/// Index of the statistics of the small and the large pool combined.
inline constexpr std::size_t kAllPools = 0;

struct AllocatorState {
  event::MemoryState current;
  event::MemoryState peak;
};

inline AllocatorState allocator_state(const c10::cuda::CUDACachingAllocator::DeviceStats& stats) {
  const auto& requested = stats.requested_bytes[kAllPools];
  const auto& allocated = stats.allocated_bytes[kAllPools];
  const auto& active = stats.active_bytes[kAllPools];
  const auto& reserved = stats.reserved_bytes[kAllPools];
  return {{requested.current, allocated.current, active.current, reserved.current},
          {requested.peak, allocated.peak, active.peak, reserved.peak}};
}

/// Starts recording the events of LibTorch's CUDA caching allocator on one GPU. The allocator keeps its trackers
/// forever, so the first recording attaches one for the lifetime of the process; it costs each event an atomic load
/// while nothing is recorded. The allocator must be initialized (lazyInitDevice) and `setting.execution_context` must
/// be set. Throws c10::Error if the active allocator does not support trackers.
void record_allocator(const PassSetting& setting, c10::DeviceIndex device);

/// Adds the events since the last call, without the last one, whose counters are not known yet. Does nothing without a
/// recording.
void add_new_allocator_events(event::NewEvents& events);

/// Ends the recording and moves the events into record.memory_trace, with dropped-record counts for `source`. Does
/// nothing without a recording.
void end_allocator_record(event::PassRecord& record, const char* source);

}  // namespace kymo::collect
