// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/intervals.hpp"
#include "event/derived.hpp"
#include "event/trace.hpp"

/// Rows of step_activity, independent of the device: GPU or host processors.
namespace kymo::analysis {

/// Busy intervals of the device over the whole pass, by type of work.
class Busy {
 public:
  Busy(IntervalSet compute, IntervalSet communication, IntervalSet copy);

  /// Sets the times of a row within its interval, except those of gaps.
  void measure(event::StepActivity& row) const;
  /// Intervals with any type of work.
  const IntervalSet& any() const { return communication_.empty() && copy_.empty() ? compute_ : any_; }

 private:
  IntervalSet compute_, communication_, copy_, both_, communication_alone_, copy_alone_, any_;
};

struct PhaseStart {
  std::int32_t phase = -1;  ///< -1 for time outside of phases
  std::int64_t start_ns = 0;
};

/// Intervals of a step and its phases on the device.
struct StepSpans {
  Interval whole;
  /// If several start at the same time, the earlier phase comes first. A phase may start more than once.
  std::vector<PhaseStart> phase_starts;
};

/// Creates rows step by step. The phases partition the step, so that their counts add up to those of the step; gaps may
/// span several phases.
class StepRows {
 public:
  /// `activities` are sorted by start time. They and `phases`, the phase names by index, must outlive this object.
  StepRows(const std::vector<event::Activity>& activities, const std::vector<std::string>& phases, Busy busy,
           std::int64_t warmup)
      : activities_(activities), phases_(phases), busy_(std::move(busy)), warmup_(warmup) {}

  void add_step(std::int64_t step, const StepSpans& spans);
  std::vector<event::StepActivity> take() { return std::move(rows_); }

 private:
  event::StepActivity new_row(std::int64_t step, const std::string& phase, Interval span) const;
  void fill(event::StepActivity& row, bool closed) const;
  void set_gaps(event::StepActivity& row) const;

  const std::vector<event::Activity>& activities_;
  const std::vector<std::string>& phases_;
  Busy busy_;
  std::int64_t warmup_;
  std::vector<event::StepActivity> rows_;
};

}  // namespace kymo::analysis
