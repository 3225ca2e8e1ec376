// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "event/texts.hpp"
#include "event/trace.hpp"

/// Records of the memory pass. Times are nanoseconds on the host clock, relative to the start of the run.
namespace kymo::event {

enum class MemoryAction : std::uint8_t {
  kAllocate,
  kFreeRequested,  ///< freed by its owner
  kFreeCompleted,  ///< and no longer used by any stream
  kSegmentAllocate,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kOutOfMemory,
};

enum class MemoryDevice : std::uint8_t { kCpu, kCuda };
constexpr auto names_of(MemoryDevice) {
  return enum_names<MemoryDevice>("memory device", {{MemoryDevice::kCpu, "cpu"}, {MemoryDevice::kCuda, "cuda"}});
}

/// Counters of an allocator. On CPU, reserved equals allocated, and the other counters are equal to each other.
struct MemoryState {
  std::int64_t requested_bytes = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t active_bytes = 0;
  std::int64_t reserved_bytes = 0;
};

/// An allocator event. Events of a device are in chronological order.
struct MemoryEvent {
  MemoryAction action = MemoryAction::kAllocate;
  MemoryDevice device = MemoryDevice::kCpu;
  std::int64_t time_ns = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;    ///< requested size of a block; size of a segment
  std::uint32_t stream = 0;  ///< numbered by first use; 0 is the default stream
  Position position;  ///< position.op distinguishes outermost operator calls; it is not an index into Trace::operators
  TextId op = kNoText;          ///< name of the innermost operator active on the thread
  std::int32_t stack = -1;      ///< index into Memory::stacks
  MemoryState after;            ///< counters after the event
  std::int64_t free_bytes = 0;  ///< kOutOfMemory: free memory on the device
};

/// A memory range and the category that the workload assigned to it.
struct BlockTag {
  std::int64_t time_ns = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::uint32_t category = 0;  ///< KYMO_PARAMETER ... of kymo_plugin.h
};

/// A code location in a library, or in a Python file.
struct StackFrame {
  std::string module;  ///< file name of the library, or path of the Python file
  std::uint64_t offset = 0;
  std::string function;    ///< demangled; empty if the library has no symbol
  std::int64_t line = -1;  ///< of a Python file; -1 in a library
};

/// Memory use of a whole GPU at one time.
struct DeviceMemory {
  std::int64_t time_ns = 0;
  std::string stage;  ///< before cuda, context created, prepared, after step, end; empty for periodic samples
  std::int32_t step = -1;
  std::int64_t used_bytes = 0;
  std::optional<std::int64_t> process_bytes;
};

/// A tensor that a node of an autograd graph keeps when the backward pass begins.
struct SavedTensor {
  std::int64_t time_ns = 0;   ///< begin of the backward pass
  Position position;          ///< of its begin
  bool nested = false;        ///< it runs within the evaluation of a node of another graph
  AutogradPosition node;      ///< created in the forward pass
  TextId name = kNoText;      ///< of the node
  TextId type = kNoText;      ///< data type and sizes: f32[4, 512]
  std::uint64_t address = 0;  ///< of its storage, which tensors may share; 0 if it has no memory
  std::int64_t bytes = 0;     ///< of its elements
  std::int64_t storage_bytes = 0;
};

struct Memory {
  std::vector<MemoryEvent> events;
  std::vector<BlockTag> tags;
  // Call stacks of allocations; in the trace and ops passes Python stacks of what their positions belong to.
  std::vector<StackFrame> frames;
  std::vector<std::vector<std::uint32_t>> stacks;  ///< indices into frames, innermost first
  std::vector<DeviceMemory> device;
  std::vector<SavedTensor> saved_tensors;  ///< of the newest step
  /// Peaks of the pass from the allocator's statistics. The recorded events must agree with them.
  std::optional<MemoryState> cuda_peaks;
};

}  // namespace kymo::event
