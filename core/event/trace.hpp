// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "event/texts.hpp"

/// Records of the trace and ops passes. Collectors fill them, analysis attributes each event to a phase and scope, and
/// the store writes them. Times are nanoseconds on the host clock, relative to the start of the run. The value -1 means
/// none.
namespace kymo::event {

using kymo::to_string;  // so that it is found by argument-dependent lookup

/// The autograd node that a thread executes, or the sequence number of the next node that it creates.
struct AutogradPosition {
  std::int64_t sequence =
      -1;  ///< autograd sequence number; -1 without a node or if the node has none (gradient accumulation)
  std::uint64_t thread = 0;  ///< LibTorch's id of the forward thread; sequence numbers are per thread
};

/// Execution context of an event, recorded by the thread that caused it.
struct Position {
  std::int32_t step = -1;
  std::int32_t phase = -1;   ///< index into Trace::phases
  std::int32_t range = -1;   ///< index into Trace::ranges: innermost open range on the thread
  std::uint32_t thread = 0;  ///< thread index from 0, in order of first use
  AutogradPosition node;     ///< node of the backward pass
  std::int64_t op = -1;      ///< index into Trace::operators: innermost active operator on the thread
};

/// An instance of a phase or a scope, identified by its index in Trace::ranges.
struct Range {
  bool is_phase = false;
  std::int32_t parent = -1;  ///< enclosing range on the same thread
  TextId name = kNoText;
  TextId path = kNoText;  ///< names of the enclosing scopes and its own, joined by '/'; kNoText for a phase
  std::int32_t step = -1;
  std::int32_t phase = -1;
  std::uint32_t thread = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = -1;     ///< -1 if it did not end
  AutogradPosition first_node;  ///< position of the next node on this thread at the begin of the range
  std::int64_t end_sequence =
      -1;  ///< sequence number of the next node at the end; nodes created within the range have numbers in between
};

/// Type of work that a call launches.
enum class LaunchKind : std::uint8_t { kKernel, kMemcpy, kMemset, kGraph };

/// A call that launches work on a GPU.
struct Launch {
  std::uint32_t correlation_id = 0;
  LaunchKind kind = LaunchKind::kKernel;
  std::int64_t time_ns = 0;
  Position position;
};

/// A CUDA graph node and the context in which it was captured.
struct GraphNode {
  std::uint64_t node = 0;
  Position position;
};

enum class ActivityKind : std::uint8_t { kKernel, kMemcpy, kMemset };
constexpr auto names_of(ActivityKind) {
  using enum ActivityKind;
  return enum_names<ActivityKind>("activity kind", {{kKernel, "kernel"}, {kMemcpy, "memcpy"}, {kMemset, "memset"}});
}

/// How the phase and scope of an event were determined.
enum class Attribution : std::uint8_t {
  kNone,      ///< unknown phase
  kPhase,     ///< phase of the launch; unknown scope
  kLaunch,    ///< scope that was open on the launching thread
  kAutograd,  ///< forward scope that created the backward node
  kGraph,     ///< context in which the graph node was captured
  kFused,     ///< set of modules that a compiler fused; the scope names all of them
};
constexpr auto names_of(Attribution) {
  using enum Attribution;
  return enum_names<Attribution>("attribution", {{kNone, "none"},
                                                 {kPhase, "phase"},
                                                 {kLaunch, "launch"},
                                                 {kAutograd, "autograd"},
                                                 {kGraph, "graph"},
                                                 {kFused, "fused"}});
}

/// A kernel, copy or memset on a GPU.
struct Activity {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t graph_node = 0;  ///< 0 for an eager launch
  std::int64_t bytes = 0;        ///< size of a copy or memset
  TextId name = kNoText;
  std::uint32_t correlation_id = 0;
  std::uint32_t stream = 0;
  std::uint32_t shape = 0;  ///< kernels: index into Trace::shapes
  ActivityKind kind = ActivityKind::kKernel;

  // Set by analysis::attribute().
  Attribution attribution = Attribution::kNone;
  std::int32_t step = -1;
  std::int32_t phase = -1;
  TextId scope = kNoText;  ///< scope path
  std::int64_t op = -1;
};

/// Launch configuration and static resources of a kernel.
struct LaunchShape {
  std::int32_t grid[3] = {0, 0, 0};
  std::int32_t block[3] = {0, 0, 0};
  std::int32_t static_shared_bytes = 0;
  std::int32_t dynamic_shared_bytes = 0;
  std::int32_t registers = 0;
  bool operator==(const LaunchShape&) const = default;
};

/// A CUDA API call.
struct ApiCall {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  TextId name = kNoText;
  std::uint32_t correlation_id = 0;
  std::int64_t thread = 0;  ///< system thread id
};

/// A synchronization with a GPU.
struct Synchronization {
  std::string kind;  ///< event, stream, stream event, context
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t stream = -1;
  std::uint32_t correlation_id = 0;
};

/// Overhead of tracing itself (CUPTI overhead records).
struct OverheadRecord {
  std::string kind;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// A LibTorch operator call, identified by its index in Trace::operators.
struct Operator {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = -1;  ///< -1 if it did not end
  std::int64_t parent = -1;
  TextId name = kNoText;
  TextId shapes = kNoText;
  bool backward = false;
  Position position;           ///< position.node is the executing node; position.op is unused
  std::int64_t sequence = -1;  ///< sequence number shared by a forward operator and its backward node

  // Set by analysis::attribute().
  Attribution attribution = Attribution::kNone;
  TextId scope = kNoText;
  std::int64_t self_ns = 0;
};

enum class CollectiveOperation : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kBarrier,
  kReduce,
  kGather,
  kScatter,
  kAllToAll,
  kSend,
  kReceive
};
constexpr auto names_of(CollectiveOperation) {
  using enum CollectiveOperation;
  return enum_names<CollectiveOperation>("collective operation", {{kAllReduce, "all_reduce"},
                                                                  {kReduceScatter, "reduce_scatter"},
                                                                  {kAllGather, "all_gather"},
                                                                  {kBroadcast, "broadcast"},
                                                                  {kBarrier, "barrier"},
                                                                  {kReduce, "reduce"},
                                                                  {kGather, "gather"},
                                                                  {kScatter, "scatter"},
                                                                  {kAllToAll, "all_to_all"},
                                                                  {kSend, "send"},
                                                                  {kReceive, "receive"}});
}

/// A collective call on one rank.
struct Collective {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  TextId communicator = kNoText;
  std::int64_t sequence = 0;         ///< index of the call in its communicator, identical on all ranks
  std::int64_t bytes = 0;            ///< payload size on this rank
  bool on_device = false;            ///< true if it was queued on a stream
  std::int64_t group_ranks = -1;     ///< number of ranks in the communicator; -1 if it was not recorded
  std::optional<std::string> dtype;  ///< data type of the message: f32, bf16 ...; empty if it was not recorded
  Position position;                 ///< context of the call; attribute_collectives() limits its phase
  std::int64_t enqueue_ns = 0;       ///< start of the call
  std::int64_t returned_ns =
      -1;  ///< end of the call: the work is queued, or without a stream, complete; -1 if it did not end
  std::int64_t needed_call_ns = -1;  ///< when a thread first waited for it or made its stream wait; -1 if none did
  Position needed_position;          ///< context of that thread
  TextId needed_by = kNoText;  ///< what waited, reported or, by attribute_collectives(), the scope of needed_position
  // Set by analysis::attribute_collectives():
  std::int64_t needed_ns = -1;  ///< when the result was needed on this rank; -1 if unknown
  std::int64_t start_ns =
      -1;  ///< start on this rank: its first kernel on the device, or enqueue_ns without a stream; -1 if unknown
  std::int64_t end_ns = -1;
  std::int64_t kernels = 0;  ///< number of its kernels; all calls of a group count the kernels of the group
  Attribution attribution = Attribution::kNone;
  TextId scope = kNoText;
};

/// Name of the clock that all ranks of a run share: CLOCK_MONOTONIC_RAW of the host that runs the supervisor.
inline constexpr const char* kSupervisorClock = "supervisor";

/// A simultaneous reading of another clock and the host clock.
struct ClockSync {
  std::string clock;
  std::int64_t host_ns = 0;
  std::int64_t clock_ns = 0;
  std::int64_t error_ns = 0;
};

/// All records of a pass that consist of events.
struct Trace {
  Texts texts;
  std::vector<std::string> phases;  ///< names, in declaration order
  std::vector<Range> ranges;
  /// Paths of modules within compiled code, which are not those of a range. Set by analysis.
  std::vector<TextId> compiled_paths;
  std::vector<Launch> launches;
  std::vector<GraphNode> graph_nodes;
  std::vector<Activity> activities;
  std::vector<LaunchShape> shapes;
  std::vector<ApiCall> api_calls;
  std::vector<Synchronization> synchronizations;
  std::vector<OverheadRecord> overhead_records;
  std::vector<Operator> operators;
  std::vector<Collective> collectives;  ///< in call order
  std::vector<ClockSync> clock_syncs;

  /// Index of the phase of this name, or -1.
  std::int32_t phase_named(std::string_view name) const {
    const auto found = std::ranges::find(phases, name);
    return found == phases.end() ? -1 : static_cast<std::int32_t>(found - phases.begin());
  }
};

/// Phase name of activations that are computed again for the backward pass, which it interrupts.
inline constexpr const char* kRecomputePhase = "recompute";

/// Calls within the autograd engine's evaluation of a node belong to that node.
inline void pass_nodes_down(std::vector<Operator>& calls) {
  for (Operator& call : calls)  // parents come first
    if (!call.backward && call.parent >= 0)
      call.position.node = calls[static_cast<std::size_t>(call.parent)].position.node;
}

}  // namespace kymo::event
