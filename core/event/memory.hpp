// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "event/texts.hpp"
#include "event/trace.hpp"

/// What the pass memory observes. Times are nanoseconds on the host clock, relative to the start of the run.
namespace kymo::event {

enum class MemoryAction : std::uint8_t {
  kAllocate,
  kFreeRequested,  ///< given back by its owner
  kFreeCompleted,  ///< and no stream uses it any more
  kSegmentAllocate,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kOutOfMemory,
};

enum class MemoryDevice : std::uint8_t { kCpu, kCuda };

/// The counters of an allocator. On a CPU all four but reserved are alike, and reserved equals allocated.
struct MemoryState {
  std::int64_t requested_bytes = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t active_bytes = 0;
  std::int64_t reserved_bytes = 0;
};

/// One thing an allocator did; events of one device are in their true order.
struct MemoryEvent {
  MemoryAction action = MemoryAction::kAllocate;
  MemoryDevice device = MemoryDevice::kCpu;
  std::int64_t time_ns = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;       ///< requested size of a block; size of a segment
  std::uint32_t stream = 0;     ///< numbered by first use; 0 is the default stream
  Place place;                  ///< place.op tells outermost operator calls apart; Trace::operators does not hold them
  TextId op = kNoText;          ///< name of the innermost operator that was open on the thread
  std::int32_t stack = -1;      ///< index into Memory::stacks
  MemoryState after;            ///< counters once the event was done
  std::int64_t free_bytes = 0;  ///< kOutOfMemory: free on the device
};

/// What a workload said a stretch of memory holds.
struct BlockTag {
  std::int64_t time_ns = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::uint32_t category = 0;  ///< KYMO_PARAMETER ... of the plugin boundary
};

/// A place in code.
struct StackFrame {
  std::string module;  ///< file name of the library
  std::uint64_t offset = 0;
  std::string function;  ///< demangled; empty if the library does not tell
};

/// A reading of the memory of a whole GPU.
struct DeviceMemory {
  std::int64_t time_ns = 0;
  std::string moment;  ///< before cuda, context made, prepared, after step, end; empty for readings in between
  std::int32_t step = -1;
  std::int64_t used_bytes = 0;
  std::optional<std::int64_t> process_bytes;
};

struct Memory {
  std::vector<MemoryEvent> events;
  std::vector<BlockTag> tags;
  std::vector<StackFrame> frames;
  std::vector<std::vector<std::uint32_t>> stacks;  ///< indices into frames, innermost first
  std::vector<DeviceMemory> device;
  /// The allocator's own peaks since the pass began, read from its statistics: what the events must agree with.
  std::optional<MemoryState> cuda_peaks;
};

}  // namespace kymo::event
