// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/intervals.hpp"
#include "event/derived.hpp"
#include "event/trace.hpp"

/// The rows of step_activity, whatever does the work: the GPU or the host's own processors.
namespace kymo::analysis {

/// When the device was busy with what, over the whole pass.
class Busy {
 public:
  Busy(IntervalSet compute, IntervalSet communication, IntervalSet copy);

  /// The row's times within its stretch, but for those of gaps.
  void measure(event::StepActivity& row) const;
  /// With anything.
  const IntervalSet& any() const { return communication_.empty() && copy_.empty() ? compute_ : any_; }

 private:
  IntervalSet compute_, communication_, copy_, both_, communication_alone_, copy_alone_, any_;
};

struct PhaseStart {
  std::int32_t phase = -1;  ///< -1 is outside of phases
  std::int64_t start_ns = 0;
};

/// Where a step and its phases lie on the device.
struct Stretches {
  Interval whole;
  std::vector<PhaseStart> phase_starts;  ///< of those that start at the same time, the earlier one first
};

/// Rows, step by step. The phases tile the step, so that what they count adds up to its row; gaps may reach across
/// their borders.
class StepRows {
 public:
  /// `activities` are in order of starting; they and `phases`, the names by number, must outlive the rows.
  StepRows(const std::vector<event::Activity>& activities, const std::vector<std::string>& phases, Busy busy,
           std::int64_t warmup)
      : activities_(activities), phases_(phases), busy_(std::move(busy)), warmup_(warmup) {}

  void add_step(std::int64_t step, const Stretches& stretches);
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
