// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "event/records.hpp"

namespace kymo::analysis {

/// Builds traces by hand: records refer to each other by number, as in collected traces.
class TraceBuilder {
 public:
  event::Trace trace;

  TraceBuilder() { trace.phases = {"forward", "backward", "optimizer"}; }

  /// A scope that created the nodes [first, end) of a forward thread; returns its number.
  std::int32_t scope(const std::string& path, std::int64_t first, std::int64_t end, std::int32_t parent = -1,
                     std::uint64_t thread = 1) {
    event::Range range;
    range.path = trace.texts.intern(path);
    range.name = trace.texts.intern(path.substr(path.rfind('/') + 1));
    range.parent = parent;
    range.step = 0;
    range.phase = 0;
    range.first_node = {first, thread};
    range.end_sequence = end;
    range.end_ns = end < 0 ? -1 : 1;
    trace.ranges.push_back(range);
    return static_cast<std::int32_t>(trace.ranges.size()) - 1;
  }

  /// A range around a call within compiled code. It creates no nodes.
  std::int32_t generated(const std::string& around, const std::string& name, std::int64_t start_ns,
                         std::int64_t end_ns) {
    const std::int32_t number = scope(around.empty() ? name : around + "/" + name, 0, 0);
    event::Range& range = trace.ranges.back();
    range.name = trace.texts.intern(name);
    range.start_ns = start_ns;
    range.end_ns = end_ns;
    return number;
  }

  static event::Position position(std::int32_t step, std::int32_t phase, std::int32_t range = -1,
                                  event::AutogradPosition node = {}, std::int64_t op = -1) {
    event::Position result;
    result.step = step;
    result.phase = phase;
    result.range = range;
    result.node = node;
    result.op = op;
    return result;
  }

  void launch(std::uint32_t id, std::int64_t time_ns, const event::Position& where,
              event::LaunchKind kind = event::LaunchKind::kKernel) {
    event::Launch launch;
    launch.correlation_id = id;
    launch.kind = kind;
    launch.time_ns = time_ns;
    launch.position = where;
    trace.launches.push_back(launch);
  }

  event::Activity& activity(std::uint32_t id, std::int64_t start_ns, std::int64_t end_ns,
                            const std::string& name = "kernel",
                            event::ActivityKind kind = event::ActivityKind::kKernel) {
    event::Activity activity;
    activity.correlation_id = id;
    activity.start_ns = start_ns;
    activity.end_ns = end_ns;
    activity.name = trace.texts.intern(name);
    activity.kind = kind;
    trace.activities.push_back(activity);
    return trace.activities.back();
  }

  /// An activity as attributed by attribute().
  event::Activity& activity_at(std::int32_t step, std::int32_t phase, std::int64_t start_ns, std::int64_t end_ns,
                               const std::string& name = "kernel",
                               event::ActivityKind kind = event::ActivityKind::kKernel) {
    event::Activity& result = activity(0, start_ns, end_ns, name, kind);
    result.step = step;
    result.phase = phase;
    return result;
  }

  std::int64_t op(const std::string& name, std::int64_t start_ns, std::int64_t end_ns, const event::Position& where,
                  std::int64_t parent = -1) {
    event::Operator call;
    call.name = trace.texts.intern(name);
    call.start_ns = start_ns;
    call.end_ns = end_ns;
    call.position = where;
    call.parent = parent;
    trace.operators.push_back(call);
    return static_cast<std::int64_t>(trace.operators.size()) - 1;
  }

  std::string text(event::TextId id) const { return trace.texts.text(id); }
};

/// The number of dropped records whose detail contains `part`; 0 if there are none.
inline std::int64_t lost(const std::vector<event::DroppedRecords>& dropped_records, const std::string& part) {
  for (const event::DroppedRecords& loss : dropped_records)
    if (loss.detail.find(part) != std::string::npos) return loss.count;
  return 0;
}

}  // namespace kymo::analysis
