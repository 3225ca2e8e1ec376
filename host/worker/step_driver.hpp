// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "measure/protocol.hpp"
#include "worker/pass_progress.hpp"
#include "worker/scheduling.hpp"
#include "worker/step_log.hpp"

namespace kymo::worker {

/// Lets this process notice when it is continued after a suspension (Ctrl-Z).
void watch_for_suspensions();

/// The armed collectors of a pass.
struct ArmedCollectors {
  std::vector<collect::Collector*> all;
  collect::DeviceTimer* timer = nullptr;
};

/// Steps to run, all of them warm-up steps or none.
struct NextSteps {
  std::int64_t first = 0;
  std::int64_t limit = 1;  ///< largest number of them
  bool warmup = false;
  bool disturbed = true;  ///< the process has done more than usual since the step before
};

/// The interval in which a driver timed the steps that it added to the log; times in ns on the host clock.
struct Interval {
  std::int64_t begin_ns = 0;  ///< of the first step
  std::int64_t end_ns = 0;
  std::int64_t elapsed_ns = 0;  ///< of the interval, which may begin before the step
  ProcessUsage usage;           ///< in the time pass
  bool suspended = false;       ///< the process was suspended in the meantime
  bool blocked = false;         ///< host times include the time during which the stream was blocked
};

/// Where the steps of a pass come from, and how they are timed. Unless a derived class replaces it, the engine calls
/// each step and times it by itself, synchronized with the device.
class StepDriver {
 public:
  StepDriver(const measure::protocol::Assignment& assignment, WorkloadInstance& workload, PassProgress& progress,
             const ArmedCollectors& collectors);
  virtual ~StepDriver() = default;
  StepDriver(const StepDriver&) = delete;
  StepDriver& operator=(const StepDriver&) = delete;

  /// Called before the collectors are armed, to tell them what to do within and between steps.
  virtual void configure(collect::PassSetting& /*setting*/) const {}
  /// Called once, before the first step. Throws std::bad_alloc.
  virtual void begin();
  /// Whether all ranks begin each step together.
  virtual bool has_barrier() const { return measure::processes_of(assignment_.pass, assignment_.what.ranks) != 1; }
  /// The steps between two readings of /proc take at least this many times as long as a reading.
  virtual std::int64_t scheduling_share() const { return SchedulingLog::kUsualShare; }
  /// What precedes a step and is not timed: the workload's before_step() and the barrier. Sets `stop` if the ranks
  /// agreed to stop. False if the pass ended.
  bool prepare(bool& stop);
  /// Runs steps that are not recorded before the first measured one. False if the pass ended.
  virtual bool settle() { return true; }
  /// Runs at least one step and adds those that are complete to the log. False if the pass or the program ended.
  virtual bool run(const NextSteps& next, StepLog& log);
  /// Called after between_steps() of the collectors: keeps the steps that run() added, in case the process is killed.
  virtual void journalize(const StepLog& /*log*/) {}
  /// Interval of the steps that run() added.
  const Interval& interval() const { return interval_; }
  /// Whether the program that runs the steps has ended.
  virtual bool ended() const { return false; }
  /// Called after the last step of the time pass.
  virtual void end() {}
  /// Adds what is known of all steps. `step_ns`: the median of the measured steps, if the time pass is complete.
  virtual void add_records(event::PassRecord&, std::optional<std::int64_t> /*step_ns*/) const {}

 protected:
  /// Runs the steps of one interval. False if one of them failed or was the last.
  virtual bool time(std::int64_t step);
  /// Calls the workload's step() within the interval, before the device is synchronized.
  virtual kymo_status call() { return workload_.step(); }
  /// Runs the steps of an interval without recording them.
  bool run_unrecorded();

  const measure::protocol::Assignment& assignment_;
  WorkloadInstance& workload_;
  PassProgress& progress_;
  const ArmedCollectors& collectors_;
  collect::DeviceTimer* timer_ = nullptr;  // nullptr without a device
  bool is_time_pass_;
  std::int64_t count_ = 1;  // steps per interval
  Interval interval_;

 private:
  std::vector<std::int64_t> device_ns_;  // by phase
};

}  // namespace kymo::worker
