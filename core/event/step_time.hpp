// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "event/records.hpp"
#include "event/step_time.h"

namespace kymo::event {

using PhaseTime = kymo_phase_time;
using StepTime = kymo_step_time;

/// Converts steps to samples: of the whole step, of each phase that occurred and, if phases are declared, of the
/// remainder of the step.
class StepSamples {
 public:
  /// Sample times are relative to run_start_ns.
  StepSamples(std::vector<std::string> phases, std::int64_t run_start_ns)
      : phases_(std::move(phases)), run_start_ns_(run_start_ns) {}

  const std::vector<std::string>& phases() const { return phases_; }
  std::int64_t run_start_ns() const { return run_start_ns_; }

  /// `times`: of the step, by phase.
  void append(const StepTime& step, std::span<const PhaseTime> times, std::vector<Sample>& samples) const {
    Sample whole = part_of(step);
    whole.phase = kWholeStep;
    whole.host_ns = step.end_ns - step.begin_ns;
    whole.device_ns = present(step.device_ns);
    whole.cpu_ns = present(step.cpu_ns);
    whole.involuntary_switches = present(step.involuntary_switches);
    samples.push_back(std::move(whole));
    if (!phases_.empty()) append_phases(step, times, samples);
  }

 private:
  static std::optional<std::int64_t> present(std::int64_t value) {
    return value < 0 ? std::nullopt : std::optional<std::int64_t>(value);
  }

  Sample part_of(const StepTime& step) const {
    Sample sample;
    sample.step = step.step;
    sample.warmup = step.warmup;
    sample.throttled = step.throttled;
    sample.start_ns = step.begin_ns - run_start_ns_;
    return sample;
  }

  void append_phases(const StepTime& step, std::span<const PhaseTime> times, std::vector<Sample>& samples) const {
    std::int64_t host_ns = step.end_ns - step.begin_ns;
    std::int64_t device_ns = step.device_ns;
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      const PhaseTime& time = times[i];
      if (time.calls == 0) continue;
      Sample sample = part_of(step);
      sample.phase = phases_[i];
      sample.calls = time.calls;
      sample.start_ns = time.start_ns - run_start_ns_;
      sample.host_ns = time.host_ns;
      sample.device_ns = present(time.device_ns);
      samples.push_back(std::move(sample));
      host_ns -= time.host_ns;
      device_ns -= std::max<std::int64_t>(time.device_ns, 0);
    }
    Sample other = part_of(step);
    other.phase = kOtherPhase;
    other.host_ns = std::max<std::int64_t>(host_ns, 0);
    // Phases on several streams may overlap on the device and exceed the step time; then the remainder `other` is 0.
    if (step.device_ns >= 0) other.device_ns = std::max<std::int64_t>(device_ns, 0);
    samples.push_back(std::move(other));
  }

  std::vector<std::string> phases_;
  std::int64_t run_start_ns_;
};

}  // namespace kymo::event
