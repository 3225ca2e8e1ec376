// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "event/compilation.hpp"
#include "event/derived.hpp"
#include "event/device.hpp"
#include "event/hardware_count.hpp"
#include "event/measurements.hpp"
#include "event/memory.hpp"
#include "event/sample.hpp"
#include "event/trace.hpp"

/// Records of one pass of a worker, without SQL or CUDA types.
namespace kymo::event {

/// Records besides those of events that a pass adds while it runs.
struct Readings {
  std::vector<GpuSample> gpu_samples;
  std::vector<GpuUtilization> gpu_utilization;
  std::vector<MemoryCounter> memory_counters;
  std::vector<LibraryOpWork> library_op_work;
};

/// All records of one pass of one rank, as passed to the store.
struct PassRecord : Readings {
  std::vector<Sample> samples;
  std::vector<Metric> metrics;
  std::vector<Compilation> compilations;
  std::vector<Work> work;
  std::vector<DeclaredOpWork> declared_op_work;
  std::vector<Check> checks;
  std::vector<HardwareCount> hardware_counts;  ///< counters pass
  std::vector<KernelCount> kernel_counts;      ///< the same by kernel, if requested
  std::vector<Mark> marks;
  std::vector<Scheduling> scheduling;
  std::vector<ReferenceLoop> reference_loops;
  std::vector<Warning> warnings;
  std::vector<DroppedRecords> dropped_records;
  MemoryPeak memory;
  std::optional<OutOfMemory> out_of_memory;
  Device device;
  /// "events only" if the pass requests kernel records but they are unavailable; a DroppedRecords entry gives the
  /// reason.
  std::string trace_status;
  Trace trace;          ///< trace and ops passes; all observing passes fill texts and ranges
  Memory memory_trace;  ///< memory pass
  Derived derived;      ///< results of the analysis of both
};

/// What a record has in a member of its own or of one of its parts, such as Trace.
template <class Record, class Value, class Owner>
auto& member_of(Record& record, Value Owner::* member) {
  if constexpr (std::is_base_of_v<Owner, Trace>)
    return record.trace.*member;
  else if constexpr (std::is_same_v<Owner, Memory>)
    return record.memory_trace.*member;
  else if constexpr (std::is_same_v<Owner, Derived>)
    return record.derived.*member;
  else
    return record.*member;
}

/// An event and its index in the trace.
template <class Event>
struct Numbered {
  std::int32_t number = -1;
  Event event;
};

/// The events of a pass that runs, since the last time that they were asked for.
struct NewEvents : GpuEvents, Readings {
  // Names that events refer to, as `shapes` are: those of all events of the pass so far, in order of their first use.
  Texts texts;
  std::vector<StackFrame> frames;
  std::vector<std::vector<std::uint32_t>> stacks;  ///< indices into frames

  std::vector<Numbered<Range>> ranges;
  std::vector<Numbered<Operator>> operators;
  std::vector<Numbered<Collective>> collectives;  ///< also those that have returned since the last time
  std::vector<NodeStack> node_stacks;
  std::vector<MemoryEvent> memory_events;
  std::vector<BlockTag> tags;
  std::vector<DeviceMemory> device_memory;

  /// Removes the events; the names remain.
  void clear();
};

/// A kind of event: its members of NewEvents and of a PassRecord.
template <auto kNew, auto kRecorded = kNew>
struct EventStream {
  template <class Events>
  static auto& of(Events& events) {
    return events.*kNew;
  }
  static auto& of(PassRecord& record) { return member_of(record, kRecorded); }
};

/// The kinds of events that survive if an observed program is killed, in the order of their numbers in a journal.
using EventStreams =
    std::tuple<EventStream<&NewEvents::ranges, &Trace::ranges>, EventStream<&NewEvents::operators, &Trace::operators>,
               EventStream<&NewEvents::collectives, &Trace::collectives>, EventStream<&GpuEvents::launches>,
               EventStream<&GpuEvents::graph_nodes>, EventStream<&GpuEvents::activities>,
               EventStream<&GpuEvents::api_calls>, EventStream<&GpuEvents::synchronizations>,
               EventStream<&GpuEvents::overhead_records>, EventStream<&GpuEvents::clock_syncs>,
               EventStream<&NewEvents::memory_events, &Memory::events>, EventStream<&NewEvents::tags, &Memory::tags>,
               EventStream<&NewEvents::device_memory, &Memory::device>, EventStream<&Readings::memory_counters>,
               EventStream<&Readings::library_op_work>, EventStream<&Readings::gpu_samples>,
               EventStream<&Readings::gpu_utilization>, EventStream<&NewEvents::node_stacks, &Trace::node_stacks>>;

/// Calls visit(stream) for each of EventStreams.
template <class Visit>
void for_each_stream(Visit visit) {
  std::apply([&](auto... streams) { (visit(streams), ...); }, EventStreams());
}

inline void NewEvents::clear() {
  for_each_stream([this](auto stream) { stream.of(*this).clear(); });
}

}  // namespace kymo::event
