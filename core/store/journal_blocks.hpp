// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "event/records.hpp"
#include "store/block_fields.hpp"
#include "store/gpu_blocks.hpp"

/// The contents of the blocks of a StepJournal.
namespace kymo::store {

/// An operator call without what analysis finds out.
struct CallBlock {
  PositionBlock position;
  std::int64_t start_ns, end_ns, sequence;
  std::int32_t number, parent;
  std::uint32_t name, shapes, backward;
  std::int32_t stack;
};

inline CallBlock block_of(const event::Numbered<event::Operator>& numbered) {
  const event::Operator& call = numbered.event;
  CallBlock block{};
  block.position = block_of(call.position);
  block.start_ns = call.start_ns;
  block.end_ns = call.end_ns;
  block.sequence = call.sequence;
  block.number = numbered.number;
  block.parent = static_cast<std::int32_t>(call.parent);
  block.name = call.name;
  block.shapes = call.shapes;
  block.backward = call.backward ? 1 : 0;
  block.stack = call.position.stack;
  return block;
}

inline event::Numbered<event::Operator> event_of(const CallBlock& block) {
  event::Numbered<event::Operator> numbered;
  numbered.number = block.number;
  event::Operator& call = numbered.event;
  call.start_ns = block.start_ns;
  call.end_ns = block.end_ns;
  call.parent = block.parent;
  call.name = block.name;
  call.shapes = block.shapes;
  call.backward = block.backward != 0;
  call.sequence = block.sequence;
  call.position = position_of(block.position);
  call.position.stack = block.stack;
  return numbered;
}

/// A collective call without what analysis finds out.
struct CollectiveBlock {
  PositionBlock position;
  std::int64_t sequence, bytes, group_ranks, enqueue_ns, returned_ns;
  std::int32_t number;
  std::uint32_t operation, communicator, on_device;
  ShortText<16> dtype;
};

inline CollectiveBlock block_of(const event::Numbered<event::Collective>& numbered) {
  const event::Collective& call = numbered.event;
  CollectiveBlock block{};
  block.position = block_of(call.position);
  block.sequence = call.sequence;
  block.bytes = call.bytes;
  block.group_ranks = call.group_ranks;
  block.enqueue_ns = call.enqueue_ns;
  block.returned_ns = call.returned_ns;
  block.number = numbered.number;
  block.operation = static_cast<std::uint32_t>(call.operation);
  block.communicator = call.communicator;
  block.on_device = call.on_device ? 1 : 0;
  if (call.dtype) block.dtype.set(*call.dtype);
  return block;
}

inline event::Numbered<event::Collective> event_of(const CollectiveBlock& block) {
  event::Numbered<event::Collective> numbered;
  numbered.number = block.number;
  event::Collective& call = numbered.event;
  call.operation = static_cast<event::CollectiveOperation>(block.operation);
  static_cast<void>(event::to_string(call.operation));  // throws Error for an unknown one
  call.communicator = block.communicator;
  call.sequence = block.sequence;
  call.bytes = block.bytes;
  call.on_device = block.on_device != 0;
  call.group_ranks = block.group_ranks;
  if (const std::string dtype = block.dtype.get(); !dtype.empty()) call.dtype = dtype;
  call.position = position_of(block.position);
  call.enqueue_ns = block.enqueue_ns;
  call.returned_ns = block.returned_ns;
  return numbered;
}

/// process_bytes: -1 if it is unknown.
struct DeviceMemoryBlock {
  std::int64_t time_ns, used_bytes, process_bytes, step;
  ShortText<32> stage;
};

inline DeviceMemoryBlock block_of(const event::DeviceMemory& memory) {
  DeviceMemoryBlock block{memory.time_ns, memory.used_bytes, memory.process_bytes.value_or(-1), memory.step, {}};
  block.stage.set(memory.stage);
  return block;
}

inline event::DeviceMemory event_of(const DeviceMemoryBlock& block) {
  event::DeviceMemory memory{block.time_ns, block.stage.get(), static_cast<std::int32_t>(block.step), block.used_bytes,
                             std::nullopt};
  if (block.process_bytes >= 0) memory.process_bytes = block.process_bytes;
  return memory;
}

/// The numbers are 0 unless they are known.
struct LibraryOpWorkBlock {
  double flops, model_flops, masked_model_flops, bytes;
  std::uint32_t name, arguments, kind, is_known;
  ShortText<16> dtype;
};

LibraryOpWorkBlock block_of(const event::LibraryOpWork& work);
/// Throws Error for an unknown kind.
event::LibraryOpWork event_of(const LibraryOpWorkBlock& block);

/// A journal has events as they are, unless there is a block for them.
template <class Event>
  requires std::is_trivially_copyable_v<Event>
const Event& block_of(const Event& event) {
  return event;
}

template <class Event>
  requires std::is_trivially_copyable_v<Event>
const Event& event_of(const Event& event) {
  return event;
}

/// What a journal has of an event.
template <class Event>
using BlockOf = std::remove_cvref_t<decltype(block_of(std::declval<const Event&>()))>;

/// The content of a block of kind kFrame: the offset and the line, then the module, a zero, and the function.
std::string frame_text(const event::StackFrame& frame);
/// Throws Error.
event::StackFrame frame_from(std::string_view text);

std::string metric_text(const event::Metric& metric);
/// Throws Error or Json::exception.
event::Metric metric_from(std::string_view text);

std::string compilation_text(const event::Compilation& compilation);
/// Throws Error or Json::exception.
event::Compilation compilation_from(std::string_view text);

}  // namespace kymo::store
