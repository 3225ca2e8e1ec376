// SPDX-License-Identifier: Apache-2.0
#include "analysis/step_activity.hpp"

#include <algorithm>
#include <map>

#include "analysis/intervals.hpp"
#include "event/records.hpp"

namespace kymo::analysis {
namespace {

using event::Activity;
using event::ActivityKind;
using event::StepActivity;
using event::Trace;

/// When the GPU was busy with what, over the whole pass.
struct Busy {
  IntervalSet compute, communication, both, communication_alone, copy, copy_alone;

  Busy(const Trace& trace, const std::vector<bool>& is_communication) {
    compute.reserve(trace.activities.size());
    for (const Activity& activity : trace.activities) {
      const bool communicates = activity.name < is_communication.size() && is_communication[activity.name];
      IntervalSet& set = activity.kind != ActivityKind::kKernel ? copy : communicates ? communication : compute;
      append(set, {activity.start_ns, activity.end_ns});
    }
    if (communication.empty() && copy.empty()) return;  // on one GPU without copies the rest stays empty
    both = intersect(compute, communication);
    communication_alone = subtract(subtract(communication, compute), copy);
    copy_alone = subtract(subtract(copy, compute), communication);
    any_ = unite(unite(compute, communication), copy);
  }

  /// With anything.
  const IntervalSet& any() const { return communication.empty() && copy.empty() ? compute : any_; }

 private:
  IntervalSet any_;
};

/// Where a step and its phases lie on the device.
struct Stretches {
  Interval whole;
  std::map<std::int32_t, std::int64_t> phase_starts;  // by phase; -1 is outside of phases
};

std::map<std::int32_t, Stretches> stretches_of(const std::vector<Activity>& activities) {
  std::map<std::int32_t, Stretches> steps;
  auto step = steps.end();
  for (const Activity& activity : activities) {
    if (activity.step < 0) continue;
    if (step == steps.end() || step->first != activity.step) {
      step = steps.try_emplace(activity.step, Stretches{{activity.start_ns, activity.start_ns}, {}}).first;
    }
    step->second.whole.end_ns = std::max(step->second.whole.end_ns, activity.end_ns);
    step->second.whole.end_ns = std::max(step->second.whole.end_ns, activity.start_ns);
    step->second.phase_starts.try_emplace(activity.phase, activity.start_ns);  // the first stays: they come in order of starting
  }
  return steps;
}

std::vector<Activity>::const_iterator first_from(const std::vector<Activity>& activities, std::int64_t time_ns) {
  return std::lower_bound(activities.begin(), activities.end(), time_ns,
                          [](const Activity& activity, std::int64_t wanted) { return activity.start_ns < wanted; });
}

/// Counts what started in a stretch; at its end only what lasted no time, and only where nothing else of the step follows.
void count_starts(StepActivity& row, const std::vector<Activity>& activities, bool closed) {
  const auto count = [&](const Activity& activity) {
    ++row.kernels;
    if (activity.kind == ActivityKind::kKernel) row.kernel_ns += std::max<std::int64_t>(0, activity.end_ns - activity.start_ns);
  };
  auto each = first_from(activities, row.start_ns);
  for (; each != activities.end() && each->start_ns < row.end_ns; ++each) count(*each);
  for (; closed && each != activities.end() && each->start_ns == row.end_ns; ++each)
    if (each->end_ns <= each->start_ns && each->step == row.step) count(*each);
}

class Rows {
 public:
  Rows(const Trace& trace, const std::vector<bool>& is_communication, std::int64_t warmup)
      : trace_(trace), busy_(trace, is_communication), warmup_(warmup) {}

  /// The phases tile the step, so that what they count adds up to its row; gaps may reach across their borders.
  void add_step(std::int32_t step, const Stretches& stretches) {
    const std::size_t at = rows_.size();
    rows_.push_back(new_row(step, event::kWholeStep, stretches.whole));
    std::vector<std::pair<std::int64_t, std::int32_t>> starts;
    for (const auto& [phase, start_ns] : stretches.phase_starts) starts.emplace_back(start_ns, phase);
    std::sort(starts.begin(), starts.end());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const auto [start_ns, phase] = starts[i];
      const bool last = i + 1 == starts.size();
      const bool known = phase >= 0 && static_cast<std::size_t>(phase) < trace_.phases.size();
      rows_.push_back(new_row(step, known ? trace_.phases[static_cast<std::size_t>(phase)] : event::kOtherPhase,
                              {start_ns, last ? stretches.whole.end_ns : starts[i + 1].first}));
      fill(rows_.back(), last);
      add_to(rows_[at], rows_.back());
    }
    set_gaps(rows_[at]);
  }
  std::vector<StepActivity> take() { return std::move(rows_); }

 private:
  StepActivity new_row(std::int32_t step, const std::string& phase, Interval span) const {
    StepActivity row;
    row.step = step;
    row.phase = phase;
    row.warmup = step < warmup_;
    row.start_ns = span.start_ns;
    row.end_ns = span.end_ns;
    return row;
  }

  void fill(StepActivity& row, bool closed) const {
    const Interval span{row.start_ns, row.end_ns};
    count_starts(row, trace_.activities, closed);
    row.compute_ns = length_within_ns(busy_.compute, span);
    row.comm_ns = length_within_ns(busy_.communication, span);
    row.overlap_ns = length_within_ns(busy_.both, span);
    row.exposed_comm_ns = length_within_ns(busy_.communication_alone, span);
    row.copy_ns = length_within_ns(busy_.copy, span);
    row.exposed_copy_ns = length_within_ns(busy_.copy_alone, span);
    set_gaps(row);
  }

  void set_gaps(StepActivity& row) const {
    const Gaps gaps = gaps_within(busy_.any(), {row.start_ns, row.end_ns});
    row.gaps = gaps.count;
    row.idle_ns = gaps.total_ns;
    row.longest_gap_ns = gaps.longest_ns;
  }

  static void add_to(StepActivity& sum, const StepActivity& part) {
    sum.kernels += part.kernels;
    sum.kernel_ns += part.kernel_ns;
    sum.compute_ns += part.compute_ns;
    sum.comm_ns += part.comm_ns;
    sum.overlap_ns += part.overlap_ns;
    sum.exposed_comm_ns += part.exposed_comm_ns;
    sum.copy_ns += part.copy_ns;
    sum.exposed_copy_ns += part.exposed_copy_ns;
  }

  const Trace& trace_;
  Busy busy_;
  std::int64_t warmup_;
  std::vector<StepActivity> rows_;
};

}  // namespace

std::vector<StepActivity> step_activity(const Trace& trace, const std::vector<bool>& is_communication, std::int64_t warmup) {
  Rows rows(trace, is_communication, warmup);
  for (const auto& [step, stretches] : stretches_of(trace.activities)) rows.add_step(step, stretches);
  return rows.take();
}

}  // namespace kymo::analysis
