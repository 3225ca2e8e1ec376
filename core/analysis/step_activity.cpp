// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "analysis/derive.hpp"
#include "analysis/step_rows.hpp"
#include "event/records.hpp"
#include "event/texts.hpp"

namespace kymo::analysis {
namespace {

using event::Activity;
using event::ActivityKind;
using event::StepActivity;
using event::Trace;

Busy busy_on_device(const Trace& trace, const std::vector<bool>& is_communication) {
  IntervalSet compute, communication, copy;
  compute.reserve(trace.activities.size());
  for (const Activity& activity : trace.activities) {
    const bool communicates = event::is_marked(is_communication, activity.name);
    IntervalSet& set = activity.kind != ActivityKind::kKernel ? copy : communicates ? communication : compute;
    append(set, {activity.start_ns, activity.end_ns});
  }
  return {std::move(compute), std::move(communication), std::move(copy)};
}

struct StepOnDevice {
  Interval whole;
  std::map<std::int32_t, std::int64_t> phase_starts;  // first start by phase
  std::vector<PhaseStart> returns;                    // later starts of phases that are entered more than once
  std::int32_t phase = -1;                            // of the last activity
};

/// Returns, by phase, whether any step enters it more than once, so that it has several intervals on the device.
std::vector<bool> reentered_phases(const Trace& trace) {
  std::map<std::int32_t, std::int32_t> last_steps;
  std::vector<bool> reentered(trace.phases.size(), false);
  for (const event::Range& range : trace.ranges) {
    if (!range.is_phase || range.step < 0 || range.phase < 0) continue;
    const auto [last, is_first] = last_steps.try_emplace(range.phase, range.step);
    const auto phase = static_cast<std::size_t>(range.phase);
    if (!is_first && last->second == range.step && phase < reentered.size()) reentered[phase] = true;
    last->second = range.step;
  }
  return reentered;
}

std::map<std::int32_t, StepOnDevice> steps_of(const std::vector<Activity>& activities,
                                              const std::vector<bool>& reentered) {
  std::map<std::int32_t, StepOnDevice> steps;
  auto step = steps.end();
  for (const Activity& activity : activities) {
    if (activity.step < 0) continue;
    if (step == steps.end() || step->first != activity.step) {
      const auto [found, is_new] = steps.try_emplace(activity.step);
      step = found;
      if (is_new) step->second.whole = {activity.start_ns, activity.start_ns};
    }
    step->second.whole.end_ns = std::max(step->second.whole.end_ns, activity.end_ns);
    step->second.whole.end_ns = std::max(step->second.whole.end_ns, activity.start_ns);
    const bool is_first = step->second.phase_starts.try_emplace(activity.phase, activity.start_ns).second;
    const auto phase = static_cast<std::size_t>(activity.phase);
    if (!is_first && activity.phase != step->second.phase && phase < reentered.size() && reentered[phase])
      step->second.returns.push_back({activity.phase, activity.start_ns});
    step->second.phase = activity.phase;
  }
  return steps;
}

/// If the first activities of several phases start at the same time, the phases are in declaration order.
StepSpans spans_of(const StepOnDevice& step) {
  StepSpans spans{step.whole, {}};
  for (const auto& [phase, start_ns] : step.phase_starts) spans.phase_starts.push_back({phase, start_ns});
  spans.phase_starts.insert(spans.phase_starts.end(), step.returns.begin(), step.returns.end());
  return spans;
}

}  // namespace

std::vector<StepActivity> step_activity(const Trace& trace, const std::vector<bool>& is_communication,
                                        std::int64_t warmup) {
  StepRows rows(trace.activities, trace.phases, busy_on_device(trace, is_communication), warmup);
  for (const auto& [number, step] : steps_of(trace.activities, reentered_phases(trace)))
    rows.add_step(number, spans_of(step));
  return rows.take();
}

}  // namespace kymo::analysis
