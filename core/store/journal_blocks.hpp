// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "event/new_events.hpp"
#include "event/records.hpp"

/// The contents of the blocks of a StepJournal.
namespace kymo::store {

/// A position, without what analysis finds out.
struct PositionBlock {
  std::int64_t node_sequence;
  std::uint64_t node_thread;
  std::int32_t step, phase, range;
  std::uint32_t thread;
};

inline PositionBlock block_of(const event::Position& position) {
  return {position.node.sequence, position.node.thread, position.step, position.phase, position.range, position.thread};
}

inline event::Position position_of(const PositionBlock& block) {
  return {block.step, block.phase, block.range, block.thread, {block.node_sequence, block.node_thread}, -1};
}

/// An operator call without what analysis finds out.
struct CallBlock {
  PositionBlock position;
  std::int64_t start_ns, end_ns, sequence;
  std::int32_t number, parent;
  std::uint32_t name, shapes, backward, unused;
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
  return block;
}

inline event::Numbered<event::Operator> call_of(const CallBlock& block) {
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
  return numbered;
}

/// A collective call without what analysis finds out. dtype: as many characters as fit, then zeros.
struct CollectiveBlock {
  PositionBlock position;
  std::int64_t sequence, bytes, group_ranks, enqueue_ns, returned_ns;
  std::int32_t number;
  std::uint32_t operation, communicator, on_device;
  char dtype[16];
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
  if (call.dtype) call.dtype->copy(block.dtype, sizeof(block.dtype) - 1);
  return block;
}

inline event::Numbered<event::Collective> call_of(const CollectiveBlock& block) {
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
  if (block.dtype[0] != 0) call.dtype = std::string(block.dtype, strnlen(block.dtype, sizeof(block.dtype)));
  call.position = position_of(block.position);
  call.enqueue_ns = block.enqueue_ns;
  call.returned_ns = block.returned_ns;
  return numbered;
}

std::string metric_text(const event::Metric& metric);
/// Throws Error or Json::exception.
event::Metric metric_from(std::string_view text);

std::string compilation_text(const event::Compilation& compilation);
/// Throws Error or Json::exception.
event::Compilation compilation_from(std::string_view text);

}  // namespace kymo::store
