// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "event/position.hpp"
#include "event/texts.hpp"

/// What CUPTI records of a GPU and of the calls that use it.
namespace kymo::event {

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
  std::int32_t stack = -1;        ///< index into Memory::stacks: Python stack that launched it
  bool stack_of_forward = false;  ///< as in Position
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

/// Name of the clock that all ranks of a run share: CLOCK_MONOTONIC_RAW of the host that runs the supervisor.
inline constexpr const char* kSupervisorClock = "supervisor";

/// A simultaneous reading of another clock and the host clock.
struct ClockSync {
  std::string clock;
  std::int64_t host_ns = 0;
  std::int64_t clock_ns = 0;
  std::int64_t error_ns = 0;
};

struct GpuEvents {
  std::vector<Launch> launches;
  std::vector<GraphNode> graph_nodes;
  std::vector<Activity> activities;
  std::vector<LaunchShape> shapes;
  std::vector<ApiCall> api_calls;
  std::vector<Synchronization> synchronizations;
  std::vector<OverheadRecord> overhead_records;
  std::vector<ClockSync> clock_syncs;
};

}  // namespace kymo::event
