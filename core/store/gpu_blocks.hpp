// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "event/gpu_events.hpp"
#include "store/block_fields.hpp"

/// The contents of the blocks of a StepJournal for what GPUs and CUDA calls do.
namespace kymo::store {

/// A launch, of which a step has about a thousand. Numbers of operators and threads fit into 32 bits.
struct LaunchBlock {
  std::int64_t time_ns, node_sequence;
  std::uint32_t correlation_id, kind, thread, node_thread;
  std::int32_t step, phase, range, op, stack, unused;
};

inline LaunchBlock block_of(const event::Launch& launch) {
  const event::Position& at = launch.position;
  return {launch.time_ns,
          at.node.sequence,
          launch.correlation_id,
          static_cast<std::uint32_t>(launch.kind),
          at.thread,
          static_cast<std::uint32_t>(at.node.thread),
          at.step,
          at.phase,
          at.range,
          static_cast<std::int32_t>(at.op),
          at.stack,
          0};
}

inline event::Launch event_of(const LaunchBlock& block) {
  return {block.correlation_id,
          static_cast<event::LaunchKind>(block.kind),
          block.time_ns,
          {block.step,
           block.phase,
           block.range,
           block.thread,
           {block.node_sequence, block.node_thread},
           block.op,
           block.stack}};
}

/// A kernel, copy or memset without what analysis finds out.
struct ActivityBlock {
  std::int64_t start_ns, end_ns;
  std::uint64_t graph_node;
  std::int64_t bytes;
  std::uint32_t name, correlation_id, stream, shape_and_kind;  ///< the kind is in the lower two bits
};

inline ActivityBlock block_of(const event::Activity& activity) {
  return {activity.start_ns,   activity.end_ns,
          activity.graph_node, activity.bytes,
          activity.name,       activity.correlation_id,
          activity.stream,     activity.shape << 2 | static_cast<std::uint32_t>(activity.kind)};
}

inline event::Activity event_of(const ActivityBlock& block) {
  event::Activity activity;
  activity.start_ns = block.start_ns;
  activity.end_ns = block.end_ns;
  activity.graph_node = block.graph_node;
  activity.bytes = block.bytes;
  activity.name = block.name;
  activity.correlation_id = block.correlation_id;
  activity.stream = block.stream;
  activity.shape = block.shape_and_kind >> 2;
  activity.kind = static_cast<event::ActivityKind>(block.shape_and_kind & 3);
  static_cast<void>(event::to_string(activity.kind));  // throws Error for an unknown one
  return activity;
}

struct SynchronizationBlock {
  std::int64_t start_ns, end_ns, stream;
  std::uint32_t correlation_id, unused;
  ShortText<32> kind;
};

inline SynchronizationBlock block_of(const event::Synchronization& wait) {
  SynchronizationBlock block{wait.start_ns, wait.end_ns, wait.stream, wait.correlation_id, 0, {}};
  block.kind.set(wait.kind);
  return block;
}

inline event::Synchronization event_of(const SynchronizationBlock& block) {
  return {block.kind.get(), block.start_ns, block.end_ns, block.stream, block.correlation_id};
}

struct OverheadBlock {
  std::int64_t start_ns, end_ns;
  ShortText<32> kind;
};

inline OverheadBlock block_of(const event::OverheadRecord& overhead) {
  OverheadBlock block{overhead.start_ns, overhead.end_ns, {}};
  block.kind.set(overhead.kind);
  return block;
}

inline event::OverheadRecord event_of(const OverheadBlock& block) {
  return {block.kind.get(), block.start_ns, block.end_ns};
}

struct ClockSyncBlock {
  std::int64_t host_ns, clock_ns, error_ns;
  ShortText<16> clock;
};

inline ClockSyncBlock block_of(const event::ClockSync& sync) {
  ClockSyncBlock block{sync.host_ns, sync.clock_ns, sync.error_ns, {}};
  block.clock.set(sync.clock);
  return block;
}

inline event::ClockSync event_of(const ClockSyncBlock& block) {
  return {block.clock.get(), block.host_ns, block.clock_ns, block.error_ns};
}

}  // namespace kymo::store
