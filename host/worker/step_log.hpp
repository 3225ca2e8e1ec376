// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "event/step_time.hpp"

namespace kymo::worker {

/// Stores step times of a pass without names and without an allocation per step, and converts them to samples
/// afterwards.
class StepLog {
 public:
  /// Sample times are relative to run_start_ns (host clock).
  StepLog(std::vector<std::string> phases, std::int64_t run_start_ns);

  /// Reserves memory for this many steps.
  void reserve(std::int64_t steps);

  void add(const event::StepTime& step, std::span<const event::PhaseTime> phases);

  std::span<const event::StepTime> steps() const { return steps_; }
  std::int64_t size() const { return static_cast<std::int64_t>(steps_.size()); }

  std::int64_t run_start_ns() const { return conversion_.run_start_ns(); }

  /// Names of the phases that no step entered.
  std::vector<std::string> unused_phases() const;

  /// Median time of the measured steps in ns, on the device if all of them have a device time; 0 without steps.
  std::int64_t median_ns() const;

  /// Per step: the whole step, each phase that occurred and, if phases are declared, the remainder of the step.
  std::vector<event::Sample> samples() const;

 private:
  event::StepSamples conversion_;
  std::vector<event::StepTime> steps_;
  std::vector<event::PhaseTime> times_;  // one entry per phase and step
};

}  // namespace kymo::worker
