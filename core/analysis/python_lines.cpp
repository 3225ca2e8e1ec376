// SPDX-License-Identifier: Apache-2.0
#include "analysis/python_lines.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/derive.hpp"

namespace kymo::analysis {
namespace {

using event::LineTotal;
using event::PassRecord;

/// Stacks by the thread that created a node and its number.
class NodeStacks {
 public:
  explicit NodeStacks(const std::vector<event::NodeStack>& nodes) {
    for (const event::NodeStack& each : nodes)
      stacks_[{each.node.thread, each.node.sequence}] = static_cast<std::int32_t>(each.stack);
  }
  void complete(event::Position& position) const {
    if (position.stack >= 0 || position.node.sequence < 0) return;
    const auto found = stacks_.find({position.node.thread, position.node.sequence});
    if (found == stacks_.end()) return;
    position.stack = found->second;
    position.stack_of_forward = true;
  }

 private:
  std::map<std::pair<std::uint64_t, std::int64_t>, std::int32_t> stacks_;
};

bool contains_any(std::string_view text, const auto& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

/// The innermost frame of the user's code in each stack; -1 if there is none.
std::vector<std::int64_t> user_frames(const event::Memory& memory) {
  std::vector<bool> is_user;
  for (const event::StackFrame& frame : memory.frames)
    is_user.push_back(frame.line >= 0 && !is_library_code(frame.module));
  std::vector<std::int64_t> frames;
  for (const auto& stack : memory.stacks) {
    const auto found = std::ranges::find_if(stack, [&](std::uint32_t frame) { return is_user[frame]; });
    frames.push_back(found == stack.end() ? -1 : std::int64_t{*found});
  }
  return frames;
}

const char* kind_of(const event::Activity& activity, const event::Texts& texts) {
  if (activity.kind == event::ActivityKind::kMemcpy && texts.text(activity.name).ends_with("device to host"))
    return "copy to host";
  return event::to_string(activity.kind);
}

class LineTotals {
 public:
  LineTotals(PassRecord& record, std::int64_t warmup)
      : texts_(record.trace.texts),
        frames_(record.memory_trace.frames),
        frame_of_stack_(user_frames(record.memory_trace)),
        warmup_(warmup),
        steps_(measured_steps(record.trace, warmup)) {}

  void add(std::int32_t stack, bool of_forward, std::int32_t step, std::int32_t phase, const char* kind,
           std::int64_t ns) {
    if (step < 0 || step < warmup_) return;
    const bool is_known = stack >= 0 && static_cast<std::size_t>(stack) < frame_of_stack_.size();
    const std::int64_t frame = is_known ? frame_of_stack_[static_cast<std::size_t>(stack)] : -1;
    of_forward = of_forward && frame >= 0;
    const Key key =
        frame < 0 ? Key{event::kNoText, -1, event::kNoText, phase, false, kind} : Key{texts_.intern(of(frame).module),
                                                                                      of(frame).line,
                                                                                      texts_.intern(of(frame).function),
                                                                                      phase,
                                                                                      of_forward,
                                                                                      kind};
    const auto [found, is_new] = index_.emplace(key, totals_.size());
    if (is_new)
      totals_.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), phase, of_forward, kind, steps_, 0, 0});
    LineTotal& total = totals_[found->second];
    ++total.calls;
    total.total_ns += std::max<std::int64_t>(0, ns);
  }

  std::vector<LineTotal> take() { return std::move(totals_); }

 private:
  /// File, line, function, phase, of_forward, kind.
  using Key = std::tuple<event::TextId, std::int64_t, event::TextId, std::int32_t, bool, std::string_view>;
  const event::StackFrame& of(std::int64_t frame) const { return frames_[static_cast<std::size_t>(frame)]; }

  event::Texts& texts_;
  const std::vector<event::StackFrame>& frames_;
  std::vector<std::int64_t> frame_of_stack_;
  std::int64_t warmup_;
  std::int64_t steps_;
  std::map<Key, std::size_t> index_;
  std::vector<LineTotal> totals_;
};

}  // namespace

void add_forward_stacks(event::Trace& trace) {
  if (trace.node_stacks.empty()) return;
  const NodeStacks stacks(trace.node_stacks);
  for (event::Operator& call : trace.operators) stacks.complete(call.position);
  for (event::Launch& launch : trace.launches) stacks.complete(launch.position);
  for (event::GraphNode& node : trace.graph_nodes) stacks.complete(node.position);
}

bool is_library_code(std::string_view file) {
  using namespace std::string_view_literals;
  // What `eval` compiles has a name in brackets; "<string>" is the program of `python -c`, and <stdin> one that is
  // typed.
  if (file.starts_with('<')) return file != "<string>" && file != "<stdin>" && !file.starts_with("<ipython-input");
  static constexpr std::array kLibraries{"-packages/torch/"sv,        "-packages/triton/"sv, "-packages/functorch/"sv,
                                         "-packages/torchgen/"sv,     "-packages/kymo/"sv,   "-packages/kymo_trace/"sv,
                                         "/python/kymo_trace/"sv,     "/python/kymo/"sv,     "/torchinductor_"sv,
                                         "/python/sitecustomize.py"sv};
  if (contains_any(file, kLibraries)) return true;
  const std::size_t library = file.find("/lib/python3.");
  return library != std::string_view::npos && file.find("-packages/") == std::string_view::npos;
}

std::vector<LineTotal> line_totals(PassRecord& record, std::int64_t warmup) {
  if (record.memory_trace.stacks.empty()) return {};
  const event::Trace& trace = record.trace;
  LineTotals totals(record, warmup);
  for (const event::Operator& call : trace.operators) {
    const bool reads = trace.texts.text(call.name) == "aten::_local_scalar_dense";
    totals.add(call.position.stack, call.position.stack_of_forward, call.position.step, call.position.phase,
               reads ? "host read" : "operator", call.self_ns);
  }
  for (const event::Activity& activity : trace.activities)
    totals.add(activity.stack, activity.stack_of_forward, activity.step, activity.phase, kind_of(activity, trace.texts),
               activity.end_ns - activity.start_ns);
  return totals.take();
}

}  // namespace kymo::analysis
