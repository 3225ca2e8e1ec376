// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "analysis/derive.hpp"
#include "analysis/grouping.hpp"
#include "analysis/intervals.hpp"
#include "analysis/number_index.hpp"
#include "analysis/scope_finder.hpp"

namespace kymo::analysis {
namespace {

using event::Activity;
using event::HostWork;
using event::IdleTotal;
using event::Range;
using event::TextId;
using event::Trace;

constexpr std::int64_t kEndOfTime = std::numeric_limits<std::int64_t>::max();

/// A value that changes over time, for example the innermost open range of a thread.
template <class Value>
class Timeline {
 public:
  struct State {
    Value value{};
    std::int64_t until_ns = kEndOfTime;
  };

  /// Times must not decrease. Of several values that begin at the same time, the last one holds.
  void change(std::int64_t time_ns, Value value) { changes_.push_back({time_ns, value}); }
  State at(std::int64_t time_ns, Value before) const {
    const auto next = std::ranges::upper_bound(changes_, time_ns, {}, &Change::time_ns);
    return {next == changes_.begin() ? before : std::prev(next)->value,
            next == changes_.end() ? kEndOfTime : next->time_ns};
  }

 private:
  struct Change {
    std::int64_t time_ns = 0;
    Value value{};
  };
  std::vector<Change> changes_;
};

/// Returns the value of the innermost of nested ranges over time, and `outside` where none is open.
template <class ValueOf>
auto innermost(std::vector<const Range*> ranges, ValueOf value_of, decltype(value_of(std::declval<Range>())) outside) {
  Timeline<decltype(outside)> timeline;
  std::vector<const Range*> open;
  const auto end_of = [](const Range& range) { return range.end_ns < 0 ? kEndOfTime : range.end_ns; };
  const auto close_until = [&](std::int64_t time_ns) {
    while (!open.empty() && end_of(*open.back()) <= time_ns) {
      const std::int64_t end_ns = open.back()->end_ns;
      open.pop_back();
      timeline.change(end_ns, open.empty() ? outside : value_of(*open.back()));
    }
  };
  std::ranges::stable_sort(ranges, {}, &Range::start_ns);
  for (const Range* range : ranges) {
    close_until(range->start_ns);
    open.push_back(range);
    timeline.change(range->start_ns, value_of(*range));
  }
  close_until(kEndOfTime - 1);
  return timeline;
}

/// What the threads of the process did over time, as far as it was recorded.
class HostTime {
 public:
  struct State {
    HostWork activity = HostWork::kHostCode;
    std::int32_t phase = -1;
    TextId scope = event::kNoText;
    std::int64_t until_ns = kEndOfTime;
  };

  explicit HostTime(const event::PassRecord& record) {
    const Trace& trace = record.trace;
    std::vector<const Range*> phases;
    std::unordered_map<std::uint32_t, std::vector<const Range*>> scopes;
    for (const Range& range : trace.ranges) {
      if (range.is_phase) phases.push_back(&range);
      if (!range.is_phase && !GeneratedCall::parse(trace.texts.text(range.name)))
        scopes[range.thread].push_back(&range);
    }
    phases_ = innermost(std::move(phases), [](const Range& range) { return range.phase; }, -1);
    for (auto& [thread, ranges] : scopes)
      scopes_[thread] = innermost(std::move(ranges), [](const Range& range) { return range.path; }, event::kNoText);
    std::unordered_map<std::uint32_t, std::vector<Interval>> operators;
    for (const event::Operator& call : trace.operators)
      if (call.parent < 0) operators[call.position.thread].push_back({call.start_ns, call.end_ns});
    for (auto& [thread, calls] : operators) operators_[thread] = covered(merged(std::move(calls)));
    std::vector<Interval> compilations;
    for (const event::Compilation& each : record.compilations)
      compilations.push_back({each.start_ns, each.start_ns + each.duration_ns});
    compiling_ = covered(merged(std::move(compilations)));
  }

  State at(std::int64_t time_ns, std::uint32_t thread) const {
    const auto phase = phases_.at(time_ns, -1);
    const auto compiling = compiling_.at(time_ns, false);
    const auto scope = state(scopes_, thread, time_ns, event::kNoText);
    const auto calling = state(operators_, thread, time_ns, false);
    const HostWork activity = compiling.value ? HostWork::kCompilation
                              : calling.value ? HostWork::kOperator
                                              : HostWork::kHostCode;
    return {activity, phase.value, scope.value,
            std::min({phase.until_ns, compiling.until_ns, scope.until_ns, calling.until_ns})};
  }

 private:
  template <class Value>
  using ByThread = std::unordered_map<std::uint32_t, Timeline<Value>>;

  template <class Value>
  static Timeline<Value>::State state(const ByThread<Value>& threads, std::uint32_t thread, std::int64_t time_ns,
                                      Value before) {
    const auto found = threads.find(thread);
    return found == threads.end() ? typename Timeline<Value>::State{before} : found->second.at(time_ns, before);
  }

  static Timeline<bool> covered(const IntervalSet& set) {
    Timeline<bool> timeline;
    for (const Interval& each : set) {
      timeline.change(each.start_ns, true);
      timeline.change(each.end_ns, false);
    }
    return timeline;
  }

  Timeline<std::int32_t> phases_;
  ByThread<TextId> scopes_;
  ByThread<bool> operators_;
  Timeline<bool> compiling_;
};

IntervalSet measured_intervals(const std::vector<event::Sample>& samples, std::int64_t& steps) {
  std::vector<Interval> intervals;
  for (const event::Sample& sample : samples)
    if (sample.phase == event::kWholeStep && !sample.warmup)
      intervals.push_back({sample.start_ns, sample.start_ns + sample.host_ns});
  steps = std::ssize(intervals);
  return merged(std::move(intervals));
}

/// Divides gaps by what the host did in them.
class IdleTime {
 public:
  explicit IdleTime(const event::PassRecord& record)
      : trace_(record.trace), host_(record), launches_(correlation_ids_of(trace_.launches)) {
    for (const Activity& activity : trace_.activities) {
      append(busy_, {activity.start_ns, activity.end_ns});
      const bool reads =
          activity.kind == event::ActivityKind::kMemcpy && trace_.texts.text(activity.name).ends_with("device to host");
      if (reads) read_ends_.push_back(activity.end_ns);
    }
    std::ranges::sort(read_ends_);
  }

  void add(Interval span) {
    for (const Interval& gap : complement(busy_, span)) add_gap(gap);
  }
  std::vector<IdleTotal> take() { return std::move(totals_); }

 private:
  void add_gap(Interval gap) {
    const bool after_copy = std::ranges::binary_search(read_ends_, gap.start_ns);
    const auto next = std::ranges::lower_bound(trace_.activities, gap.end_ns, {}, &Activity::start_ns);
    const Activity* ended_by = next == trace_.activities.end() ? nullptr : &*next;
    const std::uint32_t found = ended_by ? launches_.find(ended_by->correlation_id) : NumberIndex::kNone;
    const event::Launch* launch = found == NumberIndex::kNone ? nullptr : &trace_.launches[found];
    const std::int64_t launch_ns = launch ? std::clamp(launch->time_ns, gap.start_ns, gap.end_ns) : gap.end_ns;
    std::int64_t gaps = 1;
    const auto add = [&](HostTime::State state, std::int64_t duration_ns) {
      IdleTotal& total = total_of(state);
      total.gaps += std::exchange(gaps, 0);
      total.total_ns += duration_ns;
      if (after_copy) total.after_copy_ns += duration_ns;
    };
    const std::uint32_t thread = launch ? launch->position.thread : 0;
    for (std::int64_t time_ns = gap.start_ns; time_ns < launch_ns;) {
      HostTime::State state = host_.at(time_ns, thread);
      if (state.scope == event::kNoText && launch && ended_by->phase == state.phase) state.scope = ended_by->scope;
      const std::int64_t until_ns = std::min(state.until_ns, launch_ns);
      add(state, until_ns - time_ns);
      time_ns = until_ns;
    }
    if (launch_ns < gap.end_ns) add({HostWork::kLaunch, ended_by->phase, ended_by->scope}, gap.end_ns - launch_ns);
  }

  IdleTotal& total_of(const HostTime::State& state) {
    const std::uint32_t group = groups_.number_of(
        {packed(static_cast<std::uint32_t>(state.phase), state.scope), static_cast<std::uint64_t>(state.activity)});
    if (group == totals_.size()) totals_.push_back({state.phase, state.scope, state.activity});
    return totals_[group];
  }

  const Trace& trace_;
  HostTime host_;
  NumberIndex launches_;
  IntervalSet busy_;
  std::vector<std::int64_t> read_ends_;
  Grouping groups_;
  std::vector<IdleTotal> totals_;
};

}  // namespace

std::vector<IdleTotal> idle_totals(const event::PassRecord& record) {
  if (record.trace.activities.empty()) return {};
  std::int64_t steps = 0;
  IdleTime idle(record);
  for (const Interval& span : measured_intervals(record.samples, steps)) idle.add(span);
  std::vector<IdleTotal> totals = idle.take();
  for (IdleTotal& total : totals) total.steps = steps;
  return totals;
}

}  // namespace kymo::analysis
