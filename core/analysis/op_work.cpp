// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derive.hpp"
#include "analysis/grouping.hpp"
#include "analysis/operator_work.hpp"

namespace kymo::analysis {
namespace {

using event::CallWork;
using event::Operator;
using event::TextId;
using event::Trace;
using event::WorkKind;

/// What a combination of name and arguments means.
struct Resolved {
  std::optional<CallWork> work;  ///< empty without a rule and a declaration
  bool is_overhead = false;
};

/// Looks up each combination of name and arguments once.
class Resolver {
 public:
  explicit Resolver(const event::PassRecord& record) : trace_(record.trace), declared_(record.declared_op_work) {
    for (const event::LibraryOpWork& each : record.library_op_work)
      of_library_.emplace(packed(each.name, each.arguments), &each.call);
  }

  const Resolved& of(const Operator& call) {
    const std::uint32_t number = groups_.number_of({packed(call.name, call.shapes), 0});
    if (number == resolved_.size()) resolved_.push_back(resolve(call));
    return resolved_[number];
  }

 private:
  Resolved resolve(const Operator& call) const {
    const std::string& name = trace_.texts.text(call.name);
    const std::string& arguments = trace_.texts.text(call.shapes);
    if (const auto* const declared = declaration(name, arguments))
      return {CallWork{WorkKind::kDeclared, "", declared->flops, declared->flops, declared->flops, declared->bytes}};
    if (const auto found = of_library_.find(packed(call.name, call.shapes)); found != of_library_.end())
      return {*found->second};
    if (is_overhead(name)) return {std::nullopt, true};
    const auto parsed = Arguments::parse(arguments);
    auto work = operator_work(name, parsed.value_or(Arguments()));
    if (work && !parsed) work = CallWork();
    return {std::move(work)};
  }

  /// The declaration for these arguments precedes the one for all calls; of several, the last one counts.
  const event::DeclaredOpWork* declaration(const std::string& name, const std::string& arguments) const {
    const event::DeclaredOpWork* found = nullptr;
    for (const event::DeclaredOpWork& each : declared_) {
      if (each.name != name) continue;
      const bool is_found_better = found && !found->arguments.empty();
      if (each.arguments == arguments || (each.arguments.empty() && !is_found_better)) found = &each;
    }
    return found;
  }

  const Trace& trace_;
  const std::vector<event::DeclaredOpWork>& declared_;
  std::unordered_map<std::uint64_t, const CallWork*> of_library_;  // by name and arguments
  Grouping groups_;
  std::vector<Resolved> resolved_;
};

constexpr std::int64_t kNone = -1;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

bool is_recomputed(const Operator& call) {
  return !call.backward && call.position.node.sequence >= 0 && call.sequence >= 0;
}

/// Assigns each call to the call that its time and kernels belong to.
class Owners {
 public:
  Owners(const Trace& trace, Resolver& resolver) : calls_(trace.operators), owner_(calls_.size(), kNone) {
    std::vector<bool> launches(calls_.size(), false), is_overhead(calls_.size(), false);
    for (const auto& activity : trace.activities)
      if (activity.op >= 0 && at(activity.op) < calls_.size()) launches[at(activity.op)] = true;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const Resolved& resolved = resolver.of(calls_[i]);
      is_overhead[i] = resolved.is_overhead || calls_[i].backward;
      if (inherit(i)) continue;
      if (resolved.work && !calls_[i].backward) owner_[i] = static_cast<std::int64_t>(i);
    }
    find_unknown(is_overhead, launches);
    for (std::size_t i = 0; i < calls_.size(); ++i)
      if (owner_[i] == kNone) inherit(i);
  }

  /// The call itself, the call with work that called it, or -1 for overhead.
  std::int64_t of(std::size_t call) const { return owner_[call]; }

 private:
  /// Callers precede what they call.
  bool inherit(std::size_t call) {
    const std::int64_t parent = calls_[call].parent;
    if (parent < 0 || owner_[at(parent)] == kNone) return false;
    owner_[call] = owner_[at(parent)];
    return true;
  }

  /// Calls without a rule that call nothing with work, or that launch work themselves.
  void find_unknown(const std::vector<bool>& is_overhead, const std::vector<bool>& launches) {
    std::vector<bool> calls_work(calls_.size(), false);
    for (std::size_t i = calls_.size(); i-- > 0;) {
      if (owner_[i] == kNone && !is_overhead[i] && (!calls_work[i] || launches[i]))
        owner_[i] = static_cast<std::int64_t>(i);
      const std::int64_t parent = calls_[i].parent;
      if (parent >= 0 && (owner_[i] != kNone || calls_work[i])) calls_work[at(parent)] = true;
    }
  }

  const std::vector<Operator>& calls_;
  std::vector<std::int64_t> owner_;
};

class Totals {
 public:
  Totals(const Trace& trace, Resolver& resolver, std::int64_t warmup)
      : trace_(trace),
        resolver_(resolver),
        owners_(trace, resolver),
        warmup_(warmup),
        captured_(trace.operators.size(), false) {
    for (const auto& node : trace.graph_nodes)
      if (node.position.op >= 0 && at(node.position.op) < captured_.size())
        captured_[counting(at(node.position.op))] = true;
  }

  OpWorkTotals take() {
    for (std::size_t i = 0; i < trace_.operators.size(); ++i)
      if (is_measured(trace_.operators[i].position.step)) add_call(i);
    std::vector<std::int64_t> row_of_activity(trace_.activities.size(), kNone);
    for (std::size_t i = 0; i < trace_.activities.size(); ++i) {
      const event::Activity& activity = trace_.activities[i];
      if (is_measured(activity.step) && activity.op >= 0 && at(activity.op) < trace_.operators.size())
        row_of_activity[i] = add_activity(activity);
    }
    const std::int64_t steps = measured_steps(trace_, warmup_);
    for (event::OpWork& row : rows_) row.steps = steps;
    return {std::move(rows_), std::move(row_of_activity)};
  }

 private:
  bool is_measured(std::int64_t step) const { return step >= 0 && step >= warmup_; }

  /// The call that the time and the kernels of a call count for.
  std::size_t counting(std::size_t call) const {
    const std::int64_t owner = owners_.of(call);
    return owner == kNone ? call : at(owner);
  }

  event::OpWork& row_of(std::size_t index) {
    const Operator& call = trace_.operators[index];
    const bool is_overhead = owners_.of(index) == kNone;
    const bool recomputed = is_recomputed(call);
    const TextId arguments = is_overhead ? event::kNoText : call.shapes;
    const auto flags = static_cast<std::uint32_t>(is_overhead ? 2 : 0) | static_cast<std::uint32_t>(recomputed);
    const std::uint32_t phase = static_cast<std::uint32_t>(call.position.phase);
    const std::uint32_t inner = pairs_.number_of({packed(call.name, arguments), flags});
    const std::uint32_t row = groups_.number_of({packed(call.scope, phase), inner});
    if (row == rows_.size()) {
      event::OpWork added{call.position.phase, call.scope, call.name, arguments, recomputed, {}, 0, 0, 0, 0, 0};
      if (is_overhead)
        added.call = {WorkKind::kOverhead, "", 0, 0, 0, 0};
      else if (const Resolved& resolved = resolver_.of(call); resolved.work)
        added.call = *resolved.work;
      if (recomputed && added.call.flops) added.call.model_flops = added.call.masked_model_flops = 0;
      rows_.push_back(std::move(added));
    }
    return rows_[row];
  }

  void add_call(std::size_t index) {
    const std::int64_t owner = owners_.of(index);
    if (captured_[index] || (owner != kNone && at(owner) != index)) return;
    const Operator& call = trace_.operators[index];
    event::OpWork& row = row_of(index);
    ++row.calls;
    row.host_ns += owner == kNone ? call.self_ns : std::max<std::int64_t>(0, call.end_ns - call.start_ns);
  }

  /// Returns the index of its row.
  std::int64_t add_activity(const event::Activity& activity) {
    const std::size_t counted = counting(at(activity.op));
    event::OpWork& row = row_of(counted);
    ++row.kernels;
    row.device_ns += std::max<std::int64_t>(0, activity.end_ns - activity.start_ns);
    const bool is_replayed = activity.graph_node != 0 && captured_[counted];
    if (is_replayed && replayed_.emplace(counted, activity.correlation_id).second) ++row.calls;
    return &row - rows_.data();
  }

  const Trace& trace_;
  Resolver& resolver_;
  Owners owners_;
  const std::int64_t warmup_;
  std::vector<bool> captured_;  // calls whose work a CUDA graph executes when it is launched
  Grouping pairs_, groups_;
  std::vector<event::OpWork> rows_;
  std::set<std::pair<std::size_t, std::uint32_t>> replayed_;  // calls and launches of their graph
};

}  // namespace

OpWorkTotals op_work(const event::PassRecord& record, std::int64_t warmup) {
  const Trace& trace = record.trace;
  const bool has_arguments =
      std::ranges::any_of(trace.operators, [](const Operator& call) { return call.shapes != event::kNoText; });
  if (!has_arguments) return {};
  Resolver resolver(record);
  return Totals(trace, resolver, warmup).take();
}

}  // namespace kymo::analysis
