// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/library_work.hpp"
#include "worker/step_driver.hpp"
#include "worker/step_records.hpp"

namespace kymo::worker {

/// What the step() of an observed program returns if the program ends before the step is complete: the pass ends, and
/// keeps the steps before.
inline constexpr kymo_status kProgramEnded = 1000;

/// Timing free: an observed program runs its steps itself, without synchronization or barrier. In the time pass, it
/// also times them, and several steps are processed at once.
class ObservedSteps final : public StepDriver {
 public:
  /// `journal`: keeps each complete step, or nullptr. `step_records`: those of the time pass, or
  /// nullptr.
  ObservedSteps(const measure::protocol::Assignment& assignment, WorkloadInstance& workload, PassProgress& progress,
                const ArmedCollectors& collectors, store::StepJournal* journal, kymo_step_records* step_records);

  void configure(collect::PassSetting& setting) const override;
  void begin() override;
  bool has_barrier() const override { return false; }
  std::int64_t scheduling_share() const override;
  bool run(const NextSteps& next, StepLog& log) override;
  void journalize(const StepLog& log) override;
  bool ended() const override { return ended_; }

 protected:
  kymo_status call() override;

 private:
  /// Lets the program run and time steps.
  bool run_recorded(const NextSteps& next, StepLog& log);
  bool keep_recorded(StepLog& log);

  bool ended_ = false;  // the program, within a step
  store::StepJournal* journal_;
  std::optional<StepRecords> records_;
  ProcessUsage used_;  // after the last recorded step
  event::NewEvents new_events_;
  LibraryWork library_work_;  // of operators in the journal
};

}  // namespace kymo::worker
