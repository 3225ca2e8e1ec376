// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "measure/pace.hpp"
#include "measure/statistics.hpp"
#include "worker/library_work.hpp"
#include "worker/noted_steps.hpp"
#include "worker/pass_progress.hpp"
#include "worker/scheduling.hpp"
#include "worker/step_log.hpp"

namespace kymo::store {
class StepJournal;
}

namespace kymo::worker {

/// Determines the number of steps per batch in timing hot: enough that a batch takes a millisecond, at most a thousand.
class BatchSize {
 public:
  static constexpr std::int64_t kLongEnoughNs = 1'000'000;
  static constexpr std::int64_t kMaxSteps = 1000;

  /// Number of steps of the next batch.
  std::int64_t steps() const { return steps_; }
  bool found() const { return found_; }

  /// Reports the time of a batch of steps(), in ns. The first call is ignored, because the first batch may include
  /// setup.
  void measured(std::int64_t elapsed_ns);

  /// Called when the device could not enqueue a batch as a whole: reduces the batch to a fourth. Returns false if the
  /// batch is a single step.
  bool shrink();

 private:
  std::int64_t steps_ = 1;
  bool is_first_ = true;
  bool found_ = false;
};

/// Size of this machine's largest CPU cache in bytes; if the system does not report it, an estimate that is rather too
/// large.
std::size_t host_cache_bytes();

/// Evicts the content of the CPU's last-level cache.
class HostCache {
 public:
  /// Allocates 1.25 times `cache_bytes`. Throws std::bad_alloc.
  explicit HostCache(std::size_t cache_bytes = host_cache_bytes());

  /// Writes every cache line of that memory.
  void flush();
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  std::size_t size_bytes_;
  std::unique_ptr<unsigned char[]> memory_;
};

/// What the step() of an observed program returns if the program ends before the step is complete: the pass ends, and
/// keeps the steps before.
inline constexpr kymo_status kProgramEnded = 1000;

/// Lets this process notice when it is continued after a suspension (Ctrl-Z).
void watch_for_suspensions();

/// The armed collectors of a pass.
struct ArmedCollectors {
  std::vector<collect::Collector*> all;
  collect::DeviceTimer* timer = nullptr;
};

/// Runs the warm-up steps and the measured steps of a pass.
///
/// Timing hot times batches of steps between two clock readings; each batch is one sample and counts as one step.
/// Timing cold flushes the caches before each step. Both block the phase's stream until all its work is enqueued.
/// Warm-up steps run individually and without blocking.
///
/// Timing free is that of an observed program, which runs its steps itself: nothing is synchronized. In the time pass,
/// it also times them, so that several steps are processed at once.
class StepLoop {
 public:
  /// `run_start_ns`: origin of the times in the log. `journal`: keeps each complete step, or nullptr. `noted`: the
  /// steps that an observed program times, or nullptr. Throws std::bad_alloc if the memory for flushing the CPU cache
  /// cannot be allocated.
  StepLoop(const measure::protocol::Assignment& assignment, std::int64_t run_start_ns,
           const ArmedCollectors& collectors, WorkloadInstance& workload, PassProgress& progress,
           store::StepJournal* journal = nullptr, kymo_noted_steps* noted = nullptr);

  /// Runs the steps; false if the pass ended early. Completed steps remain in the log in both cases.
  bool run();
  const StepLog& log() const { return log_; }
  /// Adds what was recorded besides the steps: how the process was scheduled, warnings, and in timing hot the number of
  /// steps per sample. Call it once, after the steps.
  void add_records(event::PassRecord& record);
  /// Excludes the steps during which this process was suspended from the statistics, as throttled ones, and adds their
  /// number.
  void exclude_suspended(event::PassRecord& record) const;

 private:
  struct Span {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    ProcessUsage usage;
  };

  bool is_warmup(std::int64_t step) const { return step < warmup_; }
  bool enough() const;
  /// Runs unrecorded steps before the first measured step, as required by the timing: to determine the batch size, or
  /// to complete first-step initialization.
  bool settle();
  /// Finds a batch size that can be enqueued while the stream is blocked, if there is one.
  bool settle_hold();
  bool run_unrecorded_steps(std::int64_t steps, bool hold, Span& span);
  /// Untimed: the workload's before_step() and the barrier. Sets `stop` if the ranks agreed to stop.
  bool prepare_step(bool& stop);
  bool timed_step(std::int64_t step);
  /// Lets the program run and time steps from this one on, and keeps them.
  bool noted_steps(std::int64_t step);
  /// Number of steps from this one on that may be noted at once.
  std::int64_t most_noted(std::int64_t step) const;
  bool keep_noted(std::int64_t step, const ProcessUsage& usage);
  /// Runs `count` steps in one timed interval.
  bool run_steps(std::int64_t step, std::int64_t count, bool hold, Span& span);
  kymo_status call_steps(std::int64_t count);
  /// Called after a successful step: false if the stream was not held as required.
  bool was_held(bool hold);
  void keep(std::int64_t step, std::int64_t count, const Span& span, bool suspended);
  /// Adds what was recorded besides the steps to the journal, if there is one.
  void journalize_records();
  void journalize_events();
  /// Time that an interval without a step takes, in ns.
  std::int64_t empty_interval_ns() const;
  /// Timing free: false if the program ended before a step was measured.
  bool measured_before_end();
  void add_warnings(std::vector<event::Warning>& warnings) const;

  const ArmedCollectors& collectors_;
  collect::DeviceTimer* timer_;  // nullptr without a device
  WorkloadInstance& workload_;
  PassProgress& progress_;
  StepLog log_;
  bool alone_;  // a single rank
  std::int64_t warmup_;
  std::int64_t planned_;  // including warm-up; 0 if a stopping rule decides
  bool hot_;
  bool cold_;
  bool free_;
  bool ended_ = false;  // timing free: the program ended within a step
  BatchSize batch_;
  bool hold_batches_ = false;            // timing hot on a device
  bool released_in_time_ = true;         // whether the last timed interval was released in time, if it was held
  std::int64_t late_batches_ = 0;        // batches released before all their work was enqueued
  std::optional<HostCache> host_cache_;  // timing cold on a CPU
  std::optional<measure::Stopping> stopping_;
  std::optional<measure::Pace> pace_;  // rank 0 of a run with a limit
  std::string too_slow_;               // why the pass ends early
  std::int64_t measuring_since_ns_ = 0;
  const measure::protocol::Assignment& assignment_;
  SchedulingLog scheduling_;
  bool is_time_pass_;
  std::optional<ProcessUsage> used_;  // after the last noted step, unless something was done since
  store::StepJournal* journal_;
  std::optional<NotedSteps> noted_;
  std::size_t journalized_metrics_ = 0;
  std::size_t journalized_compilations_ = 0;
  std::size_t journalized_tags_ = 0;
  event::NewEvents new_events_;
  LibraryWork library_work_;             // of operators in the journal
  std::int64_t empty_interval_ns_ = 0;   // measured after the last step
  std::vector<std::int64_t> device_ns_;  // by phase
  std::vector<std::int64_t> suspended_;  // steps, ascending
};

}  // namespace kymo::worker
