// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/cuda/CUDACachingAllocator.h>

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

}  // namespace kymo::collect
