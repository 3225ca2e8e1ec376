// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "event/records.hpp"

namespace kymo::event {

/// An event and its index in the trace.
template <class Event>
struct Numbered {
  std::int32_t number = -1;
  Event event;
};

/// The events of a pass that runs, since the last time that they were asked for.
struct NewEvents {
  // Names that events refer to: those of all events of the pass so far, in order of their first use.
  Texts texts;
  std::vector<LaunchShape> shapes;
  std::vector<StackFrame> frames;
  std::vector<std::vector<std::uint32_t>> stacks;  ///< indices into frames

  std::vector<Numbered<Range>> ranges;
  std::vector<Numbered<Operator>> operators;
  std::vector<Numbered<Collective>> collectives;  ///< also those that have returned since the last time
  std::vector<Launch> launches;
  std::vector<GraphNode> graph_nodes;
  std::vector<Activity> activities;
  std::vector<ApiCall> api_calls;
  std::vector<Synchronization> synchronizations;
  std::vector<OverheadRecord> overhead_records;
  std::vector<ClockSync> clock_syncs;
  std::vector<MemoryEvent> memory_events;
  std::vector<BlockTag> tags;
  std::vector<DeviceMemory> device_memory;
  std::vector<MemoryCounter> memory_counters;
  std::vector<GpuSample> gpu_samples;

  /// Removes the events; the names remain.
  void clear();
};

inline void NewEvents::clear() {
  ranges.clear();
  operators.clear();
  collectives.clear();
  launches.clear();
  graph_nodes.clear();
  activities.clear();
  api_calls.clear();
  synchronizations.clear();
  overhead_records.clear();
  clock_syncs.clear();
  memory_events.clear();
  tags.clear();
  device_memory.clear();
  memory_counters.clear();
  gpu_samples.clear();
}

/// Calls within the autograd engine's evaluation of a node belong to that node.
inline void pass_nodes_down(std::vector<Operator>& calls) {
  for (Operator& call : calls)  // parents come first
    if (!call.backward && call.parent >= 0)
      call.position.node = calls[static_cast<std::size_t>(call.parent)].position.node;
}

}  // namespace kymo::event
