// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "event/records.hpp"
#include "worker/phase_recorder.hpp"

namespace kymo::worker {

/// Keeps the times of the steps of a pass without names and without allocating for each, and turns them into samples
/// afterwards.
class StepLog {
 public:
  /// Samples are relative to run_start_ns (host clock).
  StepLog(std::vector<std::string> phases, std::int64_t run_start_ns);

  /// Makes room for that many steps.
  void reserve(std::int64_t steps);

  /// Host times in ns on the host clock; whole_device_ns is -1 where there is none.
  void add(std::int64_t step, bool warmup, std::int64_t begin_ns, std::int64_t end_ns,
           const std::vector<PhaseTime>& phases, std::int64_t whole_device_ns);

  std::int64_t size() const { return static_cast<std::int64_t>(steps_.size()); }

  /// Of each step: the whole, each phase that occurred, and, where phases are declared, what they leave out.
  std::vector<event::Sample> samples() const;

 private:
  struct Step {
    std::int64_t step;
    std::int64_t begin_ns;
    std::int64_t end_ns;
    std::int64_t device_ns;
    bool warmup;
  };
  void append_phases(const Step& step, const PhaseTime* phases, std::vector<event::Sample>& samples) const;

  std::vector<std::string> phases_;
  std::int64_t run_start_ns_;
  std::vector<Step> steps_;
  std::vector<PhaseTime> times_;  // phases_.size() of each step
};

}  // namespace kymo::worker
