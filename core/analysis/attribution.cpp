// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/sort/flat_stable_sort/flat_stable_sort.hpp>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/derive.hpp"
#include "analysis/number_index.hpp"
#include "analysis/python_lines.hpp"
#include "analysis/scope_finder.hpp"
#include "event/records.hpp"

namespace kymo::analysis {
namespace {

using event::Activity;
using event::Attribution;
using event::Launch;
using event::LaunchKind;
using event::Operator;
using event::Trace;

/// Allowed difference between start and launch in addition to the clock error: the clock resolution.
constexpr std::int64_t kClockGrainNs = 1000;

/// Adds a number of inconsistent events.
void add(std::vector<event::DroppedRecords>& list, std::int64_t count, std::string detail) {
  add_dropped(list, "attribution", count, std::move(detail));
}

void sort_by_start(std::vector<Activity>& activities) {
  const auto before = [](const Activity& a, const Activity& b) { return a.start_ns < b.start_ns; };
  if (std::ranges::is_sorted(activities, before)) return;
  boost::sort::flat_stable_sort(activities.begin(), activities.end(), before);
}

/// Contexts in which the nodes of CUDA graphs were captured.
class CapturedNodes {
 public:
  struct Node {
    ScopeAttribution attributed;
    std::int32_t phase = -1;
    std::int64_t op = -1;
  };

  CapturedNodes(const std::vector<event::GraphNode>& nodes, ScopeFinder& finder) : index_(numbers_of(nodes)) {
    nodes_.reserve(nodes.size());
    for (const auto& node : nodes)
      nodes_.push_back({finder.locate(node.position), finder.phase(node.position), node.position.op});
  }

  const Node* find(std::uint64_t number) {
    const std::uint32_t position = index_.find(number);
    return position == NumberIndex::kNone ? nullptr : &nodes_[position];
  }

 private:
  static std::vector<std::uint64_t> numbers_of(const std::vector<event::GraphNode>& nodes) {
    std::vector<std::uint64_t> numbers(nodes.size());
    std::ranges::transform(nodes, numbers.begin(), &event::GraphNode::node);
    return numbers;
  }

  NumberIndex index_;
  std::vector<Node> nodes_;
};

/// Attributes the activities of a trace to their context.
class ActivityAttributor {
 public:
  ActivityAttributor(Trace& trace, ScopeFinder& finder)
      : trace_(trace),
        finder_(finder),
        index_(correlation_ids_of(trace.launches)),
        nodes_(trace.graph_nodes, finder),
        has_work_(trace.launches.size(), false) {
    for (const auto& sync : trace.clock_syncs) {
      if (sync.clock != event::kSupervisorClock) tolerance_ns_ = std::max(tolerance_ns_, sync.error_ns + kClockGrainNs);
    }
  }

  void attribute_all(std::vector<event::DroppedRecords>& dropped_records) {
    for (Activity& activity : trace_.activities) attribute_one(activity);
    add(dropped_records, without_launch_, "activities without a launch: unknown step");
    add(dropped_records, backwards_, "activities that end before they start: duration set to 0");
    add(dropped_records, early_, "activities that start before their launch by more than the clock error");
    add(dropped_records, launches_without_work(), "launches in steps whose work was not recorded");
  }

 private:
  void attribute_one(Activity& activity) {
    if (activity.end_ns < activity.start_ns) ++backwards_;
    const std::uint32_t found = index_.find(activity.correlation_id);
    const Launch* launch = found == NumberIndex::kNone ? nullptr : &trace_.launches[found];
    if (launch) {
      has_work_[found] = true;
      if (activity.start_ns < launch->time_ns - tolerance_ns_) ++early_;
      activity.step = launch->position.step;
      activity.phase = finder_.phase(launch->position);
      activity.op = recorded_operator(launch->position.op);
      activity.stack = launch->position.stack;
      activity.stack_of_forward = launch->position.stack_of_forward;
    } else {
      ++without_launch_;
      activity.step = activity.phase = -1;
      activity.op = -1;
    }
    std::optional<ScopeAttribution> attributed;
    if (activity.graph_node != 0) attributed = attribution_in_graph(activity);
    if (!attributed) attributed = launch ? finder_.locate(launch->position) : ScopeAttribution{};
    activity.attribution = attributed->attribution;
    activity.scope = attributed->scope;
    kernels_seen_ |= activity.kind == event::ActivityKind::kKernel;
    memsets_seen_ |= activity.kind == event::ActivityKind::kMemset;
  }

  /// Uses the phase, scope and operator of the node. Returns nullopt, and keeps the phase of the launch, if the graph
  /// was captured outside of phases and scopes, for example before the program was observed.
  std::optional<ScopeAttribution> attribution_in_graph(Activity& activity) {
    const CapturedNodes::Node* node = nodes_.find(activity.graph_node);
    if (node && recorded_operator(node->op) >= 0) activity.op = node->op;
    if (node && (node->phase >= 0 || node->attributed.scope != event::kNoText)) {
      if (node->phase >= 0) activity.phase = node->phase;
      const bool is_fused = node->attributed.attribution == Attribution::kFused;
      return ScopeAttribution{is_fused ? Attribution::kFused : Attribution::kGraph, node->attributed.scope};
    }
    return std::nullopt;
  }

  std::int64_t recorded_operator(std::int64_t number) const {
    return number >= 0 && static_cast<std::size_t>(number) < trace_.operators.size() ? number : -1;
  }

  /// Memsets are recorded only on request, so memset launches are ignored if there are no memset records. All launches
  /// are ignored if kernels were not recorded.
  std::int64_t launches_without_work() const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < trace_.launches.size() && kernels_seen_; ++i) {
      const Launch& launch = trace_.launches[i];
      if (!has_work_[i] && launch.position.step >= 0 && (launch.kind != LaunchKind::kMemset || memsets_seen_)) ++count;
    }
    return count;
  }

  Trace& trace_;
  ScopeFinder& finder_;
  NumberIndex index_;
  CapturedNodes nodes_;
  std::vector<bool> has_work_;  // by launch index
  std::int64_t tolerance_ns_ = kClockGrainNs;
  std::int64_t without_launch_ = 0, backwards_ = 0, early_ = 0;
  bool kernels_seen_ = false, memsets_seen_ = false;
};

/// The operators of each thread, in the order in which they began.
std::map<std::uint32_t, std::vector<std::int64_t>> by_thread(const std::vector<Operator>& operators) {
  std::map<std::uint32_t, std::vector<std::int64_t>> threads;
  for (std::size_t i = 0; i < operators.size(); ++i)
    threads[operators[i].position.thread].push_back(static_cast<std::int64_t>(i));
  return threads;
}

/// The innermost operator among those of a thread that was active from `start_ns` to `end_ns`; -1 if there is none.
std::int64_t around(const std::vector<Operator>& operators, const std::vector<std::int64_t>& of_thread,
                    std::int64_t start_ns, std::int64_t end_ns) {
  const auto start_of = [&](std::int64_t i) { return operators[static_cast<std::size_t>(i)].start_ns; };
  const auto after = std::ranges::upper_bound(of_thread, start_ns, {}, start_of);
  std::int64_t found = after == of_thread.begin() ? -1 : *std::prev(after);
  while (found >= 0) {
    const Operator& call = operators[static_cast<std::size_t>(found)];
    if (call.end_ns < 0 || call.end_ns >= end_ns) break;
    found = call.parent < found ? call.parent : -1;
  }
  return found;
}

/// Kernels that a compiler generated are not operators of LibTorch, but take their place: in a pass that records
/// operators, they become rows like those.
void add_generated_kernels(Trace& trace) {
  if (trace.operators.empty()) return;
  const auto threads = by_thread(trace.operators);
  const std::vector<std::int64_t> none;
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    const event::Range& range = trace.ranges[i];
    const auto call = range.is_phase ? std::nullopt : GeneratedCall::parse(trace.texts.text(range.name));
    if (!call || call->kernel.empty() || range.end_ns < 0) continue;
    const auto of_thread = threads.find(range.thread);
    Operator kernel;
    kernel.start_ns = range.start_ns;
    kernel.end_ns = range.end_ns;
    kernel.name = trace.texts.intern(std::string(call->kernel));
    kernel.parent =
        around(trace.operators, of_thread == threads.end() ? none : of_thread->second, range.start_ns, range.end_ns);
    kernel.position = {range.step, range.phase, static_cast<std::int32_t>(i), range.thread, {}, -1};
    if (kernel.parent >= 0) {
      const event::Position& around_it = trace.operators[static_cast<std::size_t>(kernel.parent)].position;
      kernel.position.node = around_it.node;
      kernel.position.stack = around_it.stack;
    }
    trace.operators.push_back(kernel);
  }
}

/// Attributes operators, and subtracts the time of nested operators on the same thread from their parents' own time.
void attribute_operators(std::vector<Operator>& operators, ScopeFinder& finder,
                         std::vector<event::DroppedRecords>& dropped_records) {
  std::int64_t open = 0, backwards = 0;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    Operator& call = operators[i];
    const ScopeAttribution attributed = finder.locate(call.position);
    call.attribution = attributed.attribution;
    call.scope = attributed.scope;
    call.position.phase = finder.phase(call.position);
    // An operator begins after its parent, so its number is higher; other parents are invalid.
    Operator* parent = call.parent >= 0 && static_cast<std::size_t>(call.parent) < i
                           ? &operators[static_cast<std::size_t>(call.parent)]
                           : nullptr;
    if (call.end_ns == -1) {
      ++open;
      call.end_ns = parent ? std::max(call.start_ns, parent->end_ns) : call.start_ns;
    } else if (call.end_ns < call.start_ns) {
      ++backwards;
    }
    call.self_ns = std::max<std::int64_t>(0, call.end_ns - call.start_ns);
    if (!parent || parent->position.thread != call.position.thread) continue;
    const std::int64_t within = std::min(call.end_ns, parent->end_ns) - std::max(call.start_ns, parent->start_ns);
    parent->self_ns -= std::clamp<std::int64_t>(within, 0, std::max<std::int64_t>(0, parent->self_ns));
  }
  add(dropped_records, open, "operators without an end: the end of the enclosing operator is used");
  add(dropped_records, backwards, "operators that end before they start: duration set to 0");
}

}  // namespace

std::vector<event::DroppedRecords> attribute(Trace& trace) {
  std::vector<event::DroppedRecords> dropped_records;
  sort_by_start(trace.activities);
  add_generated_kernels(trace);
  add_forward_stacks(trace);
  ScopeFinder finder(trace);
  attribute_operators(trace.operators, finder, dropped_records);
  ActivityAttributor(trace, finder).attribute_all(dropped_records);
  return dropped_records;
}

}  // namespace kymo::analysis
