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
  std::map<std::int32_t, std::int64_t> phase_starts;  // start by phase
};

std::map<std::int32_t, StepOnDevice> steps_of(const std::vector<Activity>& activities) {
  std::map<std::int32_t, StepOnDevice> steps;
  auto step = steps.end();
  for (const Activity& activity : activities) {
    if (activity.step < 0) continue;
    if (step == steps.end() || step->first != activity.step) {
      step = steps.try_emplace(activity.step, StepOnDevice{{activity.start_ns, activity.start_ns}, {}}).first;
    }
    step->second.whole.end_ns = std::max(step->second.whole.end_ns, activity.end_ns);
    step->second.whole.end_ns = std::max(step->second.whole.end_ns, activity.start_ns);
    step->second.phase_starts.try_emplace(activity.phase,
                                          activity.start_ns);  // keep the first, since activities are sorted by start
  }
  return steps;
}

/// If the first activities of several phases start at the same time, the phases are in declaration order.
StepSpans spans_of(const StepOnDevice& step) {
  StepSpans spans{step.whole, {}};
  for (const auto& [phase, start_ns] : step.phase_starts) spans.phase_starts.push_back({phase, start_ns});
  return spans;
}

}  // namespace

std::vector<StepActivity> step_activity(const Trace& trace, const std::vector<bool>& is_communication,
                                        std::int64_t warmup) {
  StepRows rows(trace.activities, trace.phases, busy_on_device(trace, is_communication), warmup);
  for (const auto& [number, step] : steps_of(trace.activities)) rows.add_step(number, spans_of(step));
  return rows.take();
}

}  // namespace kymo::analysis
