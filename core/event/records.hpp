// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "event/derived.hpp"
#include "event/device.hpp"
#include "event/hardware_count.hpp"
#include "event/memory.hpp"
#include "event/trace.hpp"

/// Records of one pass of a worker, without SQL or CUDA types.
namespace kymo::event {

/// Phase names for the whole step and for the time outside of its phases.
inline constexpr const char* kWholeStep = "step";
inline constexpr const char* kOtherPhase = "other";

/// Duration of a phase, or of the whole step, in one step.
struct Sample {
  std::int64_t step = 0;  ///< index from 0, including warm-up steps
  std::string phase;
  bool warmup = false;
  bool throttled = false;     ///< the GPU was throttled (measure/statistics.hpp) or the process was suspended during
                              ///< the step; set after the pass
  std::int64_t calls = 1;     ///< number of times the phase was entered in the step
  std::int64_t start_ns = 0;  ///< host clock, relative to the start of the run
  std::int64_t host_ns = 0;   ///< duration on the host clock
  std::optional<std::int64_t> device_ns;  ///< duration between CUDA events on the phase's stream
  // In the time pass, used by all threads of the process in a whole step:
  std::optional<std::int64_t> cpu_ns;                ///< processor time
  std::optional<std::int64_t> involuntary_switches;  ///< times that a thread lost its processor although it could run
};

/// How the threads of a worker were scheduled from the begin of a measured step to the end of a later one.
struct Scheduling {
  std::int64_t step = 0;      ///< the last one
  std::int64_t steps = 0;     ///< number of steps
  std::int64_t start_ns = 0;  ///< host clock, relative to the start of the run
  std::int64_t wall_ns = 0;
  std::int64_t cpu_ns = 0;                      ///< sum over the steps, without the time between them
  std::int64_t involuntary_switches = 0;        ///< sum over the steps, without the time between them
  std::optional<std::int64_t> threads;          ///< number of threads; empty if the system does not count waits
  std::optional<std::int64_t> wait_ns;          ///< time in run queues, sum over the threads
  std::optional<std::int64_t> longest_wait_ns;  ///< of the thread that waited longest
  std::optional<std::int64_t> pressure_ns;      ///< time in which any thread of the system waited
  std::optional<double> load_average;           ///< of the system, over one minute
};

/// A warning about the measurements of a pass, for users.
struct Warning {
  std::string kind;
  std::string detail;
};

/// What a compiler of the framework did (Dynamo and its backends).
enum class CompilationKind { kCompilation, kRecompilation, kBackward, kRuntime, kFailure, kGraphBreak };
constexpr auto names_of(CompilationKind) {
  using enum CompilationKind;
  return enum_names<CompilationKind>("compilation kind", {{kCompilation, "compilation"},
                                                          {kRecompilation, "recompilation"},
                                                          {kBackward, "backward"},
                                                          {kRuntime, "runtime"},
                                                          {kFailure, "failure"},
                                                          {kGraphBreak, "graph_break"}});
}

/// A compilation or a graph break.
struct Compilation {
  CompilationKind kind = CompilationKind::kCompilation;
  std::int64_t step = -1;          ///< of the pass; -1 before its first step
  std::int64_t program_step = -1;  ///< of an observed program, from 0; -1 before its first step
  std::int64_t start_ns = 0;       ///< host clock, relative to the start of the run
  std::int64_t duration_ns = 0;
  std::optional<std::int64_t> inductor_ns;  ///< part of it in Inductor
  std::string function;
  std::string file;
  std::optional<std::int64_t> line;
  std::string reason;
};

enum class MetricLevel { kRun, kStep, kPhase };
constexpr auto names_of(MetricLevel) {
  using enum MetricLevel;
  return enum_names<MetricLevel>("metric level", {{kRun, "run"}, {kStep, "step"}, {kPhase, "phase"}});
}

/// A workload-defined metric. Either number or text is set.
struct Metric {
  MetricLevel level = MetricLevel::kRun;
  std::int64_t step = -1;  ///< -1 for per-run metrics
  std::string phase;       ///< empty except for per-phase metrics
  std::string name;
  std::optional<double> number;
  std::string text;
  std::string unit;
};

/// Floating-point operations and memory traffic of one phase, per step.
struct Work {
  std::string phase;
  double flops = 0;
  double bytes = 0;
};

/// Work of one call of an operator, declared by the workload; of all calls if `arguments` is empty.
struct DeclaredOpWork {
  std::string name;
  std::string arguments;
  double flops = 0;
  double bytes = 0;
};

/// Work of one call of an operator with these arguments, by a function of the operator's library.
struct LibraryOpWork {
  TextId name = kNoText;
  TextId arguments = kNoText;
  CallWork call;
};

/// From best to worst.
enum class CheckOutcome { kPassed, kUnavailable, kFailed };
constexpr auto names_of(CheckOutcome) {
  using enum CheckOutcome;
  return enum_names<CheckOutcome>("check outcome",
                                  {{kPassed, "passed"}, {kUnavailable, "unavailable"}, {kFailed, "failed"}});
}

/// Result of one comparison with a reference.
struct Check {
  std::string name;
  CheckOutcome outcome = CheckOutcome::kUnavailable;
  std::optional<double> max_abs_error;
  std::optional<double> max_rel_error;
  std::optional<double> tolerance;
  std::string reference;
  std::string detail;
};

/// GPU clocks, power and temperature, sampled during a step.
struct GpuSample {
  std::int64_t step = 0;
  std::int64_t time_ns = 0;  ///< host clock, relative to the start of the run
  std::optional<std::int64_t> sm_clock_mhz;
  std::optional<std::int64_t> memory_clock_mhz;
  std::optional<std::int64_t> power_mw;
  std::optional<std::int64_t> temperature_c;
  std::int64_t throttle_reasons = 0;  ///< NVML bit mask
};

/// Peak memory of the pass; empty values were not measured.
struct MemoryPeak {
  std::optional<std::int64_t> resident_bytes;   ///< resident set size of the process
  std::optional<std::int64_t> allocated_bytes;  ///< LibTorch's caching allocator
  std::optional<std::int64_t> reserved_bytes;
};

/// A failed memory allocation.
struct OutOfMemory {
  std::string where;  ///< "host" or "device"
  std::optional<std::int64_t> requested_bytes;
  std::optional<std::int64_t> free_bytes;
  std::optional<std::int64_t> peak_bytes;
};

/// Dropped or missing records.
struct DroppedRecords {
  std::string source;
  std::int64_t count = 0;  ///< -1 if unknown
  std::string detail;
};

/// Adds an entry if any records were dropped.
inline void add_dropped(std::vector<DroppedRecords>& list, std::string source, std::int64_t count, std::string detail) {
  if (count > 0) list.push_back({std::move(source), count, std::move(detail)});
}

/// State of LibTorch's CUDA caching allocator at one time.
struct MemoryCounter {
  std::int64_t step = -1;               ///< preceding step; -1 before the first step
  std::int64_t time_ns = 0;             ///< host clock, relative to the start of the run
  std::int64_t allocated_bytes = 0;     ///< memory in allocated blocks
  std::int64_t reserved_bytes = 0;      ///< memory reserved from the driver
  std::int64_t device_allocations = 0;  ///< allocation requests to the driver since the start of the pass
};

/// A mark set by the workload, or the end of a stage of the worker ("worker: ...").
struct Mark {
  std::string name;
  std::int64_t time_ns = 0;
  std::int64_t step = -1;
};

/// All records of one pass of one rank, as passed to the store.
struct PassRecord {
  std::vector<Sample> samples;
  std::vector<Metric> metrics;
  std::vector<Compilation> compilations;
  std::vector<Work> work;
  std::vector<DeclaredOpWork> declared_op_work;
  std::vector<LibraryOpWork> library_op_work;
  std::vector<Check> checks;
  std::vector<HardwareCount> hardware_counts;  ///< counters pass
  std::vector<GpuSample> gpu_samples;
  std::vector<MemoryCounter> memory_counters;
  std::vector<Mark> marks;
  std::vector<Scheduling> scheduling;
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
  std::vector<LibraryOpWork> library_op_work;
  std::vector<GpuSample> gpu_samples;

  /// Removes the events; the names remain.
  void clear();
};

/// A kind of event: its member of NewEvents, and the members that lead to its vector in a PassRecord.
template <auto kNew, auto... kRecorded>
struct EventStream {
  template <class Events>
  static auto& of(Events& events) {
    return events.*kNew;
  }
  static auto& of(PassRecord& record) { return (record.*....*kRecorded); }
};

/// The kinds of events that survive if an observed program is killed, in the order of their numbers in a journal.
using EventStreams = std::tuple<EventStream<&NewEvents::ranges, &PassRecord::trace, &Trace::ranges>,
                                EventStream<&NewEvents::operators, &PassRecord::trace, &Trace::operators>,
                                EventStream<&NewEvents::collectives, &PassRecord::trace, &Trace::collectives>,
                                EventStream<&NewEvents::launches, &PassRecord::trace, &Trace::launches>,
                                EventStream<&NewEvents::graph_nodes, &PassRecord::trace, &Trace::graph_nodes>,
                                EventStream<&NewEvents::activities, &PassRecord::trace, &Trace::activities>,
                                EventStream<&NewEvents::api_calls, &PassRecord::trace, &Trace::api_calls>,
                                EventStream<&NewEvents::synchronizations, &PassRecord::trace, &Trace::synchronizations>,
                                EventStream<&NewEvents::overhead_records, &PassRecord::trace, &Trace::overhead_records>,
                                EventStream<&NewEvents::clock_syncs, &PassRecord::trace, &Trace::clock_syncs>,
                                EventStream<&NewEvents::memory_events, &PassRecord::memory_trace, &Memory::events>,
                                EventStream<&NewEvents::tags, &PassRecord::memory_trace, &Memory::tags>,
                                EventStream<&NewEvents::device_memory, &PassRecord::memory_trace, &Memory::device>,
                                EventStream<&NewEvents::memory_counters, &PassRecord::memory_counters>,
                                EventStream<&NewEvents::library_op_work, &PassRecord::library_op_work>,
                                EventStream<&NewEvents::gpu_samples, &PassRecord::gpu_samples>>;

/// Calls visit(stream) for each of EventStreams.
template <class Visit>
void for_each_stream(Visit visit) {
  std::apply([&](auto... streams) { (visit(streams), ...); }, EventStreams());
}

inline void NewEvents::clear() {
  for_each_stream([this](auto stream) { stream.of(*this).clear(); });
}

}  // namespace kymo::event
