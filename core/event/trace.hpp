// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "event/texts.hpp"

/// What the passes trace and ops observe. Collectors fill it, analysis says where each event belongs, the store writes
/// it. Times are nanoseconds on the host clock, relative to the start of the run. Numbers of -1 mean: none.
namespace kymo::event {

/// The autograd node that a thread works on, or the number that the next one will get.
struct AutogradPosition {
  std::int64_t sequence =
      -1;  ///< autograd's sequence number; -1 without a node or if the node has none (gradient accumulation)
  std::uint64_t thread = 0;  ///< LibTorch's number of the forward thread, on which sequence numbers count
};

/// Where something happened, noted by the thread that did it.
struct Place {
  std::int32_t step = -1;
  std::int32_t phase = -1;   ///< index into Trace::phases
  std::int32_t range = -1;   ///< index into Trace::ranges: the innermost scope that was open on the thread
  std::uint32_t thread = 0;  ///< numbered from 0 in the order in which they were first seen
  AutogradPosition node;     ///< of the backward pass
  std::int64_t op = -1;  ///< number of the innermost operator that was open on the thread: index into Trace::operators
};

/// An instance of a phase or a scope; its place in Trace::ranges is its number.
struct Range {
  bool is_phase = false;
  std::int32_t parent = -1;  ///< the range around it on its thread
  TextId name = kNoText;
  TextId path = kNoText;  ///< names of the scopes down to it, joined by '/'; kNoText for a phase
  std::int32_t step = -1;
  std::int32_t phase = -1;
  std::uint32_t thread = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = -1;        ///< -1 if it never ended
  AutogradPosition first_node;     ///< the number that the next node on this thread would get when it began,
  std::int64_t end_sequence = -1;  ///< and when it ended: nodes made within it have numbers in between
};

/// What a launching call asks for.
enum class LaunchKind : std::uint8_t { kKernel, kMemcpy, kMemset, kGraph };

/// A call that launched work on a GPU.
struct Launch {
  std::uint32_t correlation_id = 0;
  LaunchKind kind = LaunchKind::kKernel;
  std::int64_t time_ns = 0;
  Place place;
};

/// A node of a CUDA graph, placed where it was captured.
struct GraphNode {
  std::uint64_t node = 0;
  Place place;
};

enum class ActivityKind : std::uint8_t { kKernel, kMemcpy, kMemset };

/// How an event was given its phase and scope.
enum class Attribution : std::uint8_t {
  kNone,      ///< no phase is known
  kPhase,     ///< the phase of its launch; no scope is known
  kLaunch,    ///< the scope that was open on the launching thread
  kAutograd,  ///< the forward scope that made the backward node
  kGraph,     ///< where its graph node was captured
};
/// none, phase, launch, autograd, graph.
const char* to_string(Attribution attribution);

/// Work that a GPU did.
struct Activity {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t graph_node = 0;  ///< 0 for an eager launch
  std::int64_t bytes = 0;        ///< of a copy or memset
  TextId name = kNoText;
  std::uint32_t correlation_id = 0;
  std::uint32_t stream = 0;
  std::uint32_t shape = 0;  ///< of a kernel: index into Trace::shapes
  ActivityKind kind = ActivityKind::kKernel;

  // Set by analysis::attribute().
  Attribution attribution = Attribution::kNone;
  std::int32_t step = -1;
  std::int32_t phase = -1;
  TextId scope = kNoText;  ///< path
  std::int64_t op = -1;
};

/// How a kernel was launched.
struct LaunchShape {
  std::int32_t grid[3] = {0, 0, 0};
  std::int32_t block[3] = {0, 0, 0};
  std::int32_t static_shared_bytes = 0;
  std::int32_t dynamic_shared_bytes = 0;
  std::int32_t registers = 0;
  bool operator==(const LaunchShape&) const = default;
};

/// A call into CUDA.
struct ApiCall {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  TextId name = kNoText;
  std::uint32_t correlation_id = 0;
  std::int64_t thread = 0;  ///< the system's number
};

/// A wait for a GPU.
struct Synchronization {
  std::string kind;  ///< event, stream, stream event, context
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t stream = -1;
  std::uint32_t correlation_id = 0;
};

/// Time that tracing itself took.
struct TracingPause {
  std::string kind;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// A call of an operator of LibTorch; its place in Trace::operators is its number.
struct Operator {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = -1;  ///< -1 if it never ended
  std::int64_t parent = -1;
  TextId name = kNoText;
  TextId shapes = kNoText;
  bool backward = false;
  Place place;                 ///< place.node is the node being worked on; place.op is unused
  std::int64_t sequence = -1;  ///< the number that a forward operator shares with its backward node

  // Set by analysis::attribute().
  Attribution attribution = Attribution::kNone;
  TextId scope = kNoText;
  std::int64_t self_ns = 0;
};

enum class CollectiveOperation : std::uint8_t { kAllReduce, kReduceScatter, kAllGather, kBroadcast, kBarrier };
/// all_reduce, reduce_scatter, all_gather, broadcast, barrier.
const char* to_string(CollectiveOperation operation);

/// A call that all ranks of a communicator make together.
struct Collective {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  TextId communicator = kNoText;
  std::int64_t sequence = 0;    ///< counts the calls of the communicator, the same on all its ranks
  std::int64_t bytes = 0;       ///< payload of this rank
  bool on_device = false;       ///< queued on a stream
  Place place;                  ///< of the call; its phase is bounded by place_collectives()
  std::int64_t enqueue_ns = 0;  ///< when it was called
  std::int64_t returned_ns =
      -1;  ///< when the call had queued it, or without a stream when the work was done; -1 if it never was
  // Set by analysis::place_collectives():
  std::int64_t start_ns =
      -1;  ///< when this rank began: its first kernel on the device; without a stream enqueue_ns. -1 if not seen
  std::int64_t end_ns = -1;
  std::int64_t kernels = 0;  ///< that served it; the calls of a group share theirs
  Attribution attribution = Attribution::kNone;
  TextId scope = kNoText;
};

/// Name of the clock that the ranks of a run have in common: CLOCK_MONOTONIC_RAW of the machine that the supervisor
/// runs on.
inline constexpr const char* kSupervisorClock = "supervisor";

/// A comparison of another clock with the host's.
struct ClockSync {
  std::string clock;
  std::int64_t host_ns = 0;
  std::int64_t clock_ns = 0;
  std::int64_t error_ns = 0;
};

/// Everything a pass observed by events.
struct Trace {
  Texts texts;
  std::vector<std::string> phases;  ///< names, in the order in which the workload declares them
  std::vector<Range> ranges;
  std::vector<Launch> launches;
  std::vector<GraphNode> graph_nodes;
  std::vector<Activity> activities;
  std::vector<LaunchShape> shapes;
  std::vector<ApiCall> api_calls;
  std::vector<Synchronization> synchronizations;
  std::vector<TracingPause> pauses;
  std::vector<Operator> operators;
  std::vector<Collective> collectives;  ///< in the order of their calls
  std::vector<ClockSync> clock_syncs;
};

}  // namespace kymo::event
