// SPDX-License-Identifier: Apache-2.0
#include "analysis/step_rows.hpp"

#include <algorithm>
#include <utility>

#include "event/records.hpp"

namespace kymo::analysis {
namespace {

using event::Activity;
using event::ActivityKind;
using event::StepActivity;

std::vector<Activity>::const_iterator first_from(const std::vector<Activity>& activities, std::int64_t time_ns) {
  return std::ranges::lower_bound(activities, time_ns, {}, &Activity::start_ns);
}

/// Counts the activities that start in the interval. At its end, only those with a duration of 0 count, and only if no
/// other interval of the step follows.
void count_starts(StepActivity& row, const std::vector<Activity>& activities, bool closed) {
  const auto count = [&](const Activity& activity) {
    ++row.kernels;
    if (activity.kind == ActivityKind::kKernel)
      row.kernel_ns += std::max<std::int64_t>(0, activity.end_ns - activity.start_ns);
  };
  auto each = first_from(activities, row.start_ns);
  for (; each != activities.end() && each->start_ns < row.end_ns; ++each) count(*each);
  for (; closed && each != activities.end() && each->start_ns == row.end_ns; ++each)
    if (each->end_ns <= each->start_ns && each->step == row.step) count(*each);
}

void add_to(StepActivity& sum, const StepActivity& part) {
  sum.kernels += part.kernels;
  sum.kernel_ns += part.kernel_ns;
  sum.compute_ns += part.compute_ns;
  sum.comm_ns += part.comm_ns;
  sum.overlap_ns += part.overlap_ns;
  sum.exposed_comm_ns += part.exposed_comm_ns;
  sum.copy_ns += part.copy_ns;
  sum.exposed_copy_ns += part.exposed_copy_ns;
}

/// Adds a further interval of the phase.
void extend(StepActivity& row, const StepActivity& part) {
  add_to(row, part);
  row.end_ns += part.end_ns - part.start_ns;
  row.idle_ns += part.idle_ns;
  row.gaps += part.gaps;
  row.longest_gap_ns = std::max(row.longest_gap_ns, part.longest_gap_ns);
}

}  // namespace

Busy::Busy(IntervalSet compute, IntervalSet communication, IntervalSet copy)
    : compute_(std::move(compute)), communication_(std::move(communication)), copy_(std::move(copy)) {
  if (communication_.empty() && copy_.empty()) return;  // on a single GPU without copies the other sets stay empty
  both_ = intersect(compute_, communication_);
  communication_alone_ = subtract(subtract(communication_, compute_), copy_);
  copy_alone_ = subtract(subtract(copy_, compute_), communication_);
  any_ = unite(unite(compute_, communication_), copy_);
}

void Busy::measure(StepActivity& row) const {
  const Interval span{row.start_ns, row.end_ns};
  row.compute_ns = length_within_ns(compute_, span);
  row.comm_ns = length_within_ns(communication_, span);
  row.overlap_ns = length_within_ns(both_, span);
  row.exposed_comm_ns = length_within_ns(communication_alone_, span);
  row.copy_ns = length_within_ns(copy_, span);
  row.exposed_copy_ns = length_within_ns(copy_alone_, span);
}

void StepRows::add_step(std::int64_t step, const StepSpans& spans) {
  const std::size_t at = rows_.size();
  rows_.push_back(new_row(step, event::kWholeStep, spans.whole));
  std::vector<PhaseStart> starts = spans.phase_starts;
  std::ranges::stable_sort(starts, {}, &PhaseStart::start_ns);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto [phase, start_ns] = starts[i];
    const bool last = i + 1 == starts.size();
    const bool known = phase >= 0 && static_cast<std::size_t>(phase) < phases_.size();
    StepActivity part = new_row(step, known ? phases_[static_cast<std::size_t>(phase)] : event::kOtherPhase,
                                {start_ns, last ? spans.whole.end_ns : starts[i + 1].start_ns});
    fill(part, last);
    add_to(rows_[at], part);
    const auto same = std::find_if(rows_.begin() + static_cast<std::ptrdiff_t>(at) + 1, rows_.end(),
                                   [&](const StepActivity& row) { return row.phase == part.phase; });
    if (same == rows_.end())
      rows_.push_back(std::move(part));
    else
      extend(*same, part);
  }
  set_gaps(rows_[at]);
}

StepActivity StepRows::new_row(std::int64_t step, const std::string& phase, Interval span) const {
  StepActivity row;
  row.step = step;
  row.phase = phase;
  row.warmup = step < warmup_;
  row.start_ns = span.start_ns;
  row.end_ns = span.end_ns;
  return row;
}

void StepRows::fill(StepActivity& row, bool closed) const {
  count_starts(row, activities_, closed);
  busy_.measure(row);
  set_gaps(row);
}

void StepRows::set_gaps(StepActivity& row) const {
  const Gaps gaps = gaps_within(busy_.any(), {row.start_ns, row.end_ns});
  row.gaps = gaps.count;
  row.idle_ns = gaps.total_ns;
  row.longest_gap_ns = gaps.longest_ns;
}

}  // namespace kymo::analysis
