// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/derive.hpp"
#include "analysis/intervals.hpp"
#include "analysis/step_rows.hpp"

namespace kymo::analysis {
namespace {

using event::Operator;
using event::Trace;

bool names_communication(std::string_view name) {
  static constexpr std::array<std::string_view, 3> kBackendNames{"c10d", "gloo", "nccl"};
  return std::ranges::any_of(kBackendNames,
                             [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

/// Returns, by string id, whether operators of that name are communication.
std::vector<bool> communicating_operators(const Trace& trace) {
  std::vector<bool> result(trace.texts.size() + 1, false);
  for (std::size_t id = 1; id < result.size(); ++id)
    result[id] = names_communication(trace.texts.text(static_cast<event::TextId>(id)));
  return result;
}

/// State of a thread over time.
struct ThreadTime {
  std::vector<Interval> operators;
  std::vector<Interval> communication;
};

IntervalSet computing(const Trace& trace) {
  const std::vector<bool> communicates = communicating_operators(trace);
  std::map<std::uint32_t, ThreadTime> threads;
  for (const Operator& call : trace.operators) {
    ThreadTime& thread = threads[call.position.thread];
    const bool is_communication = call.name < communicates.size() && communicates[call.name];
    if (is_communication) thread.communication.push_back({call.start_ns, call.end_ns});
    if (!is_communication && call.parent < 0) thread.operators.push_back({call.start_ns, call.end_ns});
  }
  IntervalSet all;
  for (auto& [number, thread] : threads) {
    all = unite(all, subtract(merged(std::move(thread.operators)), merged(std::move(thread.communication))));
  }
  return all;
}

IntervalSet communicating(const Trace& trace) {
  std::vector<Interval> calls;
  for (const event::Collective& call : trace.collectives) {
    if (!call.on_device && call.start_ns >= 0 && call.end_ns >= 0) calls.push_back({call.start_ns, call.end_ns});
  }
  return merged(std::move(calls));
}

/// Returns the begins of the phases by step. A phase without work may end, and the next one begin, at the time at which
/// it began.
std::map<std::int64_t, std::vector<PhaseStart>> phase_starts_of(const Trace& trace) {
  std::map<std::int64_t, std::vector<PhaseStart>> steps;
  for (const event::Range& range : trace.ranges)
    if (range.is_phase && range.step >= 0) steps[range.step].push_back({range.phase, range.start_ns});
  return steps;
}

/// Nothing lies outside of the step. Time before the first phase is `other`, or belongs to that phase if nothing ran.
StepSpans tiled(Interval whole, std::vector<PhaseStart> phase_starts, const Busy& busy) {
  for (auto& [phase, start_ns] : phase_starts) start_ns = std::clamp(start_ns, whole.start_ns, whole.end_ns);
  const auto first = std::ranges::min_element(phase_starts, {}, &PhaseStart::start_ns);
  if (first == phase_starts.end() || length_within_ns(busy.any(), {whole.start_ns, first->start_ns}) > 0) {
    phase_starts.insert(phase_starts.begin(), {-1, whole.start_ns});
  } else {
    first->start_ns = whole.start_ns;
  }
  return {whole, std::move(phase_starts)};
}

}  // namespace

std::vector<event::StepActivity> host_activity(const event::PassRecord& record, std::int64_t warmup) {
  const Trace& trace = record.trace;
  if (trace.operators.empty()) return {};
  const Busy busy(computing(trace), communicating(trace), {});
  auto phase_starts = phase_starts_of(trace);
  std::map<std::int64_t, StepSpans> steps;
  for (const event::Sample& sample : record.samples) {
    if (sample.phase != event::kWholeStep) continue;
    const Interval whole{sample.start_ns, sample.start_ns + sample.host_ns};
    steps.try_emplace(sample.step, tiled(whole, std::move(phase_starts[sample.step]), busy));
  }
  StepRows rows(trace.activities, trace.phases, busy, warmup);
  for (const auto& [step, spans] : steps) rows.add_step(step, spans);
  return rows.take();
}

}  // namespace kymo::analysis
