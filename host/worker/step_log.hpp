// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "event/records.hpp"
#include "worker/phase_recorder.hpp"
#include "worker/scheduling.hpp"

namespace kymo::worker {

/// Stores step times of a pass without names and without an allocation per step, and converts them to samples
/// afterwards.
class StepLog {
 public:
  /// Sample times are relative to run_start_ns (host clock).
  StepLog(std::vector<std::string> phases, std::int64_t run_start_ns);

  /// Reserves memory for this many steps.
  void reserve(std::int64_t steps);

  /// Host times are in ns on the host clock; whole_device_ns is -1 if not available.
  void add(std::int64_t step, bool warmup, std::int64_t begin_ns, std::int64_t end_ns,
           const std::vector<PhaseTime>& phases, std::int64_t whole_device_ns,
           const std::optional<ProcessUsage>& usage = std::nullopt);

  std::int64_t size() const { return static_cast<std::int64_t>(steps_.size()); }

  std::int64_t run_start_ns() const { return run_start_ns_; }

  /// Names of the phases that no step entered.
  std::vector<std::string> unused_phases() const;

  /// Median time of the measured steps in ns, on the device if all of them have a device time; 0 without steps.
  std::int64_t median_ns() const;

  /// Per step: the whole step, each phase that occurred and, if phases are declared, the remainder of the step.
  std::vector<event::Sample> samples() const;
  /// Those of the last step.
  std::vector<event::Sample> last_samples() const;

 private:
  struct Step {
    std::int64_t step;
    std::int64_t begin_ns;
    std::int64_t end_ns;
    std::int64_t device_ns;
    bool warmup;
    std::optional<ProcessUsage> usage;
  };
  /// `phases` are the entries of the step in times_.
  void append(const Step& step, const PhaseTime* phases, std::vector<event::Sample>& samples) const;
  void append_phases(const Step& step, const PhaseTime* phases, std::vector<event::Sample>& samples) const;

  std::vector<std::string> phases_;
  std::int64_t run_start_ns_;
  std::vector<Step> steps_;
  std::vector<PhaseTime> times_;  // phases_.size() entries per step
};

}  // namespace kymo::worker
