// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/pace.hpp"
#include "measure/statistics.hpp"
#include "worker/pass_progress.hpp"
#include "worker/reference_loop.hpp"
#include "worker/scheduling.hpp"
#include "worker/step_driver.hpp"
#include "worker/step_log.hpp"

namespace kymo::worker {

/// Runs the warm-up steps and the measured steps of a pass: counts them, decides when to stop, and keeps their times.
class StepLoop {
 public:
  /// `run_start_ns`: origin of the times in the log.
  StepLoop(const measure::protocol::Assignment& assignment, std::int64_t run_start_ns,
           const ArmedCollectors& collectors, WorkloadInstance& workload, PassProgress& progress, StepDriver& driver);

  /// Runs the steps; false if the pass ended early. Completed steps remain in the log in both cases. Throws
  /// std::bad_alloc.
  bool run();
  const StepLog& log() const { return log_; }
  /// Adds what was recorded besides the steps: how the process was scheduled, how fast the processor was, warnings, and
  /// what the driver knows. Call it once, after the steps.
  void add_records(event::PassRecord& record);
  /// Excludes the steps during which this process was suspended from the statistics, as throttled ones, and adds their
  /// number.
  void exclude_suspended(event::PassRecord& record) const;

 private:
  bool is_warmup(std::int64_t step) const { return step < warmup_; }
  bool enough() const;
  /// Largest number of steps from this one on that may be run at once.
  std::int64_t limit_at(std::int64_t step) const;
  /// Runs the steps up to the last one or the end of the program; false if the pass ended.
  bool run_steps();
  bool begin_measuring();
  /// Evaluates the steps from this one on.
  void evaluate(std::int64_t first);
  /// Fails if the program ended before a step was measured.
  bool measured_before_end();
  void add_warnings(std::vector<event::Warning>& warnings) const;
  bool is_complete() const;

  const measure::protocol::Assignment& assignment_;
  const ArmedCollectors& collectors_;
  WorkloadInstance& workload_;
  PassProgress& progress_;
  StepDriver& driver_;
  StepLog log_;
  std::int64_t warmup_;
  std::int64_t planned_;  // including warm-up; 0 if a stopping rule decides
  bool is_time_pass_;
  std::optional<measure::Stopping> stopping_;
  std::optional<measure::Pace> pace_;  // rank 0 of a run with a limit
  std::string too_slow_;               // why the pass ends early
  std::int64_t measuring_since_ns_ = 0;
  SchedulingLog scheduling_;
  std::optional<ReferenceLog> reference_;  // if the times depend on the processor alone
  bool disturbed_ = true;                  // as in NextSteps
  std::vector<std::int64_t> suspended_;    // steps, ascending
};

}  // namespace kymo::worker
