// SPDX-License-Identifier: Apache-2.0
#include "worker/step_loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <utility>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "collect/reading_interval.hpp"
#include "measure/plan.hpp"
#include "store/journal_recovery.hpp"
#include "store/step_journal.hpp"

namespace kymo::worker {
using measure::RunStatus;

namespace {

// In a batch of few steps, launch and synchronization overhead dominate, so the batch does not predict the time per
// step of a large batch.
constexpr std::int64_t kMinGrowth = 2;
constexpr std::int64_t kMaxGrowth = 10;

constexpr std::size_t kUnknownCacheBytes = std::size_t{256} << 20;
constexpr std::size_t kLineBytes = 64;

/// Caches are not strictly LRU: writing slightly more than the cache size evicts more of the old content.
constexpr std::size_t with_margin(std::size_t bytes) { return bytes + bytes / 4; }

constexpr double kSecondsPerNs = 1e-9;

std::atomic<int> continued_count{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler changes it");

constexpr const char* kClockWentBack =
    "the host clock (CLOCK_MONOTONIC_RAW) went backwards during a step, so that times on this machine are not valid";
constexpr const char* kHeldTooLong =
    "--timing cold: the step did not return within a second while its stream was blocked: it synchronizes with the "
    "device "
    "or enqueues more work than the device accepts; declare a step asynchronous only if it does neither, or use "
    "--timing sync";
constexpr const char* kNotHeld =
    "--timing hot: a batch could not be enqueued within a second while its stream was blocked: it synchronizes with "
    "the "
    "device or enqueues more work than the device accepts; its device time may include launch overhead";
constexpr const char* kNothingToHold =
    "--timing cold: the step did not enter its phase, so there was no stream to flush and block; use --timing sync";

// The time between two steps of a program is the program's: reading /proc takes at most 0.05 % of it.
constexpr std::int64_t kShareOfProgram = 2000;

// The engine processes noted steps at once that took so long together, but the first steps one by one.
constexpr std::int64_t kNotedNs = 50'000'000;

/// A step that takes fewer times as long as an empty interval is too short to be timed on its own.
constexpr std::int64_t kMinEmptyIntervals = 20;

/// Every operation on a GPU takes longer.
constexpr std::int64_t kLeastDeviceNs = 100;

std::string imprecise_text(const measure::Stopping& stopping, const measure::StoppingRule& rule) {
  const auto percent = [](double share) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.3g %%", 100 * share);
    return std::string(text);
  };
  return "the relative standard error of the mean is " + percent(stopping.relative_standard_error()) + " after " +
         std::to_string(stopping.count()) + " steps, not " + percent(rule.relative_standard_error.value_or(0)) +
         " (--until); it ends after " + std::to_string(rule.max_samples) + " steps (--max-steps) or " +
         shortest_text(rule.max_seconds) + " s";
}

std::string short_steps_text(std::int64_t step_ns, std::int64_t empty_ns,
                             const measure::protocol::Assignment& assignment, const kymo_workload& workload) {
  measure::Method hot = assignment.method;
  hot.timing = measure::Timing::kHot;
  const std::string problem = measure::timing_error(hot, assignment.what, step_properties(workload));
  return "a step takes " + std::to_string(step_ns) + " ns, and timing it on its own " + std::to_string(empty_ns) +
         " ns; " + (problem.empty() ? "use --timing hot" : "let a step do more (not --timing hot: " + problem + ")");
}

std::string idle_device_text(std::int64_t step_ns) {
  return "a step takes " + std::to_string(step_ns) +
         " ns on the device, less than any operation: it enqueues none on the stream of its phase";
}

/// The share of one of `count` steps, rounded to the nearest ns; -1 is returned unchanged.
std::int64_t share(std::int64_t ns, std::int64_t count) { return ns < 0 ? ns : (ns + count / 2) / count; }

}  // namespace

void watch_for_suspensions() {
  struct sigaction action{};
  action.sa_handler = [](int) { ++continued_count; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGCONT, &action, nullptr);
}

void BatchSize::measured(std::int64_t elapsed_ns) {
  if (is_first_) {
    is_first_ = false;
    return;
  }
  found_ = elapsed_ns >= kLongEnoughNs || steps_ == kMaxSteps;
  if (found_) return;
  const std::int64_t needed = steps_ * kLongEnoughNs / std::max<std::int64_t>(elapsed_ns, 1) + 1;
  steps_ = std::min(std::clamp(needed, kMinGrowth * steps_, kMaxGrowth * steps_), kMaxSteps);
}

bool BatchSize::shrink() {
  if (steps_ == 1) return false;
  steps_ = std::max<std::int64_t>(steps_ / 4, 1);
  return true;
}

std::size_t host_cache_bytes() {
  long largest = 0;
  for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE})
    largest = std::max(largest, sysconf(level));
  return largest > 0 ? static_cast<std::size_t>(largest) : kUnknownCacheBytes;
}

HostCache::HostCache(std::size_t cache_bytes)
    : size_bytes_(with_margin(cache_bytes)), memory_(std::make_unique<unsigned char[]>(size_bytes_)) {}

void HostCache::flush() {
  // volatile, because the written values are never read
  volatile unsigned char* const bytes = memory_.get();
  for (std::size_t i = 0; i < size_bytes_; i += kLineBytes) bytes[i] = static_cast<unsigned char>(bytes[i] + 1);
}

StepLoop::StepLoop(const measure::protocol::Assignment& assignment, std::int64_t run_start_ns,
                   const ArmedCollectors& collectors, WorkloadInstance& workload, PassProgress& progress,
                   store::StepJournal* journal, kymo_noted_steps* noted)
    : collectors_(collectors),
      timer_(assignment.method.timing == measure::Timing::kFree ? nullptr : collectors.timer),
      workload_(workload),
      progress_(progress),
      log_(workload.phases().names(), run_start_ns),
      alone_(assignment.what.ranks == 1 || assignment.method.timing == measure::Timing::kFree),
      warmup_(assignment.method.warmup),
      planned_(assignment.method.until ? 0 : assignment.method.warmup + assignment.method.steps),
      hot_(assignment.method.timing == measure::Timing::kHot),
      cold_(assignment.method.timing == measure::Timing::kCold),
      free_(assignment.method.timing == measure::Timing::kFree),
      assignment_(assignment),
      scheduling_("/proc", free_ ? kShareOfProgram : SchedulingLog::kUsualShare),
      is_time_pass_(assignment.pass == measure::Pass::kTime),
      journal_(journal),
      device_ns_(workload.phases().names().size(), -1) {
  if (cold_ && assignment.what.device == measure::DeviceKind::kCpu) host_cache_.emplace();
  const auto& until = assignment.method.until;
  if (until) stopping_.emplace(*until);
  if (assignment.method.max_pass_time_s > 0 && assignment.rank == 0 && !free_) pace_.emplace(assignment.method);
  log_.reserve(warmup_ + (until ? until->max_samples : assignment.method.steps));
  if (hot_ || cold_) workload_.phases().require_single_phase();
  const bool by_phase = assignment.method.sync == measure::Sync::kPhase;
  if (journal_) journal_->set_phases(workload_.phases().names());
  if (noted && free_ && is_time_pass_) {
    noted_.emplace(*noted, workload_.phases().names().size(), journal_, workload_.context().status_page());
    workload_.context().count_noted(&*noted_);
  }
  workload_.phases().observe(collectors_.all, by_phase ? timer_ : nullptr, workload_.context().ranges());
}

bool StepLoop::enough() const {
  return stopping_ && stopping_->enough(static_cast<double>(now_ns() - measuring_since_ns_) * kSecondsPerNs);
}

bool StepLoop::run() {
  for (collect::Collector* collector : collectors_.all) collector->before_steps();
  for (std::int64_t step = 0; stopping_ || step < planned_; step += noted_ ? noted_->count() : 1) {
    if (pace_) too_slow_ = pace_->problem();
    if (step == warmup_ && too_slow_.empty()) {
      if (!settle()) return false;
      measuring_since_ns_ = now_ns();
      if (is_time_pass_) scheduling_.begin(measuring_since_ns_);
    }
    bool stop = !too_slow_.empty() || (!is_warmup(step) && enough());
    if (stop && alone_) break;
    const bool told = progress_.announce(is_warmup(step) ? "warmup" : "step", step, planned_);
    workload_.context().set_step(step);
    if (told) used_.reset();
    // A program waits for the system call that this takes.
    if ((told || !free_) && !progress_.should_continue()) return false;
    if (!prepare_step(stop)) return false;
    if (stop) break;
    if (!(noted_ ? noted_steps(step) : timed_step(step)) && !ended_) return false;
    if (ended_) break;
  }
  workload_.context().set_step(-1);
  if (!too_slow_.empty()) return progress_.give_up(too_slow_);
  if (ended_ && !measured_before_end()) return false;
  // Rank 0 may have given up during the warm-up.
  if (!is_time_pass_ || measuring_since_ns_ == 0) return true;
  scheduling_.end(now_ns());
  if (!hot_ && !cold_ && !free_) empty_interval_ns_ = empty_interval_ns();
  return true;
}

bool StepLoop::measured_before_end() {
  if (log_.size() > warmup_) return true;
  if (log_.size() == 0) return progress_.end(RunStatus::kFailed, "the program ended before the end of the first step");
  return progress_.end(RunStatus::kFailed, "the program ended after " + std::to_string(log_.size()) +
                                               " complete steps of this pass, of which the first " +
                                               std::to_string(warmup_) + " are warm-up steps: none was measured");
}

bool StepLoop::prepare_step(bool& stop) {
  if (!progress_.check_call(workload_.before_step())) return false;
  if (alone_) return true;
  // Work enqueued by before_step() must not delay some ranks: synchronize the device before the barrier too.
  if (timer_) timer_->synchronize();
  return progress_.barrier(stop);
}

bool StepLoop::settle() {
  Span span;
  while (hot_ && !batch_.found()) {
    if (!run_unrecorded_steps(batch_.steps(), false, span)) return false;
    batch_.measured(span.end_ns - span.begin_ns);
  }
  if (hot_ && timer_) return settle_hold();
  // A first step loads kernels and allocates memory, which would block on a held stream.
  return cold_ && warmup_ == 0 ? run_unrecorded_steps(1, false, span) : true;
}

bool StepLoop::settle_hold() {
  Span span;
  const BatchSize whole = batch_;
  do {
    if (!run_unrecorded_steps(batch_.steps(), true, span)) return false;
    hold_batches_ = released_in_time_;
  } while (!hold_batches_ && batch_.shrink());
  if (hold_batches_) return true;
  ++late_batches_;
  batch_ = whole;
  return true;
}

bool StepLoop::run_unrecorded_steps(std::int64_t steps, bool hold, Span& span) {
  progress_.announce("warmup", warmup_, planned_);
  workload_.context().set_step(-1);
  bool stop = false;
  if (!progress_.should_continue() || !prepare_step(stop) || !run_steps(warmup_, steps, hold, span)) return false;
  std::int64_t unused_ns = 0;
  if (timer_) timer_->take_step(device_ns_, unused_ns);
  return true;
}

bool StepLoop::timed_step(std::int64_t step) {
  Span span;
  const std::int64_t count = is_warmup(step) ? 1 : batch_.steps();
  const int continued_before = continued_count;
  if (!run_steps(step, count, (cold_ || hold_batches_) && !is_warmup(step), span)) return false;
  late_batches_ += hot_ && !released_in_time_;
  keep(step, count, span, continued_count != continued_before);
  for (collect::Collector* collector : collectors_.all) collector->between_steps(step);
  return true;
}

std::int64_t StepLoop::most_noted(std::int64_t step) const {
  if (step < collect::kFirstSteps) return 1;
  if (is_warmup(step)) return warmup_ - step;
  return stopping_ ? measure::kMaxFreeSteps : planned_ - step;
}

bool StepLoop::noted_steps(std::int64_t step) {
  // A program waits for the system call, and kymo does little between its steps.
  const ProcessUsage before = used_ ? *used_ : process_usage();
  noted_->prepare(step, most_noted(step), is_warmup(step), now_ns() + kNotedNs);
  const kymo_status status = workload_.step();
  const ProcessUsage after = process_usage();
  used_ = after;
  ended_ = status == kProgramEnded;
  // The usage of a step that is not complete is not that of the others.
  if (status == KYMO_OK) noted_->set_usage(after - before);
  if (!keep_noted(step, after - before) || ended_) return false;
  workload_.context().rethrow_kept();
  if (!progress_.check_call(status)) return false;
  for (collect::Collector* collector : collectors_.all) collector->between_steps(step + noted_->count() - 1);
  return true;
}

bool StepLoop::keep_noted(std::int64_t step, const ProcessUsage& usage) {
  const std::int64_t count = noted_->count();
  for (std::int64_t i = 0; i < count; ++i) {
    const event::StepTime& time = noted_->time(i);
    const std::int64_t host_ns = time.end_ns - time.begin_ns;
    if (host_ns < 0) return progress_.end(RunStatus::kFailed, kClockWentBack);
    log_.add(time, noted_->phases(i));
    if (stopping_ && !is_warmup(step)) stopping_->add(static_cast<double>(host_ns), static_cast<double>(host_ns));
  }
  noted_->keep();
  journalize_records();
  if (count == 0 || is_warmup(step)) return true;
  if (scheduling_.add(step + count - 1, count, usage, noted_->time(count - 1).end_ns)) used_.reset();
  return true;
}

bool StepLoop::run_steps(std::int64_t step, std::int64_t count, bool hold, Span& span) {
  if (host_cache_) host_cache_->flush();
  if (cold_ || hot_) workload_.phases().before_entry(timer_, cold_, hold);
  workload_.phases().begin_step();
  if (timer_) timer_->synchronize();
  // Work enqueued by before_step() belongs to no step: events are assigned to steps only within the timed interval.
  RangeRecorder* const ranges = workload_.context().ranges();
  if (ranges) ranges->set_step(step);
  const ProcessUsage before = is_time_pass_ ? process_usage() : ProcessUsage();
  span.begin_ns = now_ns();
  for (collect::Collector* collector : collectors_.all) collector->step_begin(step);
  const kymo_status status = call_steps(count);
  released_in_time_ = timer_ && (cold_ || hold) ? timer_->release() : true;
  if (timer_ && status == KYMO_OK) timer_->synchronize();
  span.end_ns = now_ns();
  if (is_time_pass_) span.usage = process_usage() - before;
  if (ranges) ranges->set_step(-1);
  workload_.phases().end_step(status == KYMO_OK);
  ended_ = free_ && status == kProgramEnded;
  if (ended_) return false;
  workload_.context().rethrow_kept();
  if (span.end_ns < span.begin_ns) return progress_.end(RunStatus::kFailed, kClockWentBack);
  return progress_.check_call(status) && (hot_ || was_held(hold));
}

kymo_status StepLoop::call_steps(std::int64_t count) {
  collect::DeviceTimer* const batched = hot_ ? timer_ : nullptr;
  if (batched) batched->begin_batch();
  kymo_status status = KYMO_OK;
  for (std::int64_t i = 0; i < count && status == KYMO_OK; ++i) status = workload_.step();
  if (batched) batched->end_batch();
  return status;
}

bool StepLoop::was_held(bool hold) {
  if (!hold || !timer_) return true;
  if (!released_in_time_) return progress_.end(RunStatus::kFailed, kHeldTooLong);
  return workload_.phases().entered() ? true : progress_.end(RunStatus::kFailed, kNothingToHold);
}

void StepLoop::keep(std::int64_t step, std::int64_t count, const Span& span, bool suspended) {
  std::int64_t whole_device_ns = -1;
  std::vector<PhaseTime>& times = workload_.phases().times();
  if (timer_) {
    timer_->take_step(device_ns_, whole_device_ns);
    for (std::size_t i = 0; i < times.size(); ++i) times[i].device_ns = share(device_ns_[i], count);
  }
  for (PhaseTime& time : times) {
    time.host_ns = share(time.host_ns, count);
    time.calls = time.calls / count + (time.calls % count != 0);
  }
  // On a device the flush is enqueued within the step, so the time starts with the phase.
  const PhaseTime* const flushed_within = cold_ && timer_ ? workload_.phases().entered() : nullptr;
  const std::int64_t begin_ns = flushed_within ? flushed_within->start_ns : span.begin_ns;
  const std::int64_t end_ns = begin_ns + share(span.end_ns - begin_ns, count);
  const std::int64_t device_ns = share(whole_device_ns, count);
  event::StepTime time{
      .step = step, .begin_ns = begin_ns, .end_ns = end_ns, .device_ns = device_ns, .warmup = is_warmup(step)};
  if (is_time_pass_) {
    time.cpu_ns = share(span.usage.cpu_ns, count);
    time.involuntary_switches = span.usage.involuntary_switches;
  }
  log_.add(time, times);
  time.throttled = suspended;  // in the log, exclude_suspended() adds it
  journalize_records();
  if (journal_) journal_->add(time, times);
  if (is_time_pass_ && !is_warmup(step)) scheduling_.add(step, 1, span.usage, span.end_ns);
  if (suspended) {
    suspended_.push_back(step);
    measuring_since_ns_ += span.end_ns - span.begin_ns;  // the stopping rule ignores the step
    return;
  }
  if (pace_) pace_->add(static_cast<double>(span.end_ns - span.begin_ns) * kSecondsPerNs);
  if (!stopping_ || is_warmup(step)) return;
  // The host time of held steps includes the time during which the stream was blocked.
  const bool by_device = (cold_ || hold_batches_) && device_ns >= 0;
  stopping_->add(static_cast<double>(by_device ? device_ns : end_ns - begin_ns),
                 static_cast<double>(span.end_ns - span.begin_ns));
}

void StepLoop::journalize_records() {
  if (!journal_) return;
  const std::vector<event::Metric> metrics = workload_.context().metrics_from(journalized_metrics_);
  journalized_metrics_ += metrics.size();
  const std::vector<event::Compilation> compilations = workload_.context().compilations_from(journalized_compilations_);
  journalized_compilations_ += compilations.size();
  journal_->add(compilations);
  journal_->add(metrics);
  journalize_events();
}

void StepLoop::journalize_events() {
  new_events_.clear();
  // The ranges that operators refer to began before them.
  for (collect::Collector* collector : collectors_.all) collector->add_new_events(new_events_);
  if (RangeRecorder* const ranges = workload_.context().ranges()) ranges->add_new(new_events_);
  for (const auto& [number, call] : new_events_.operators)
    library_work_.add(new_events_.texts, call, new_events_.library_op_work);
  new_events_.tags = workload_.context().tags_from(journalized_tags_);
  journalized_tags_ += new_events_.tags.size();
  journal_->add(new_events_);
}

void StepLoop::exclude_suspended(event::PassRecord& record) const {
  const auto excluded = [&](std::int64_t step) { return std::ranges::binary_search(suspended_, step); };
  for (event::Sample& sample : record.samples) sample.throttled |= excluded(sample.step);
  const auto measured = std::ranges::count_if(suspended_, [&](std::int64_t step) { return !is_warmup(step); });
  // No record is missing; the views list this source as warning `suspended`.
  if (measured > 0) record.dropped_records.push_back({"suspended", measured, ""});
}

std::int64_t StepLoop::empty_interval_ns() const {
  constexpr int kIntervals = 15;
  std::vector<std::int64_t> times;
  for (int i = 0; i < kIntervals; ++i) {
    const std::int64_t begin_ns = now_ns();
    if (timer_) timer_->synchronize();
    times.push_back(now_ns() - begin_ns);
  }
  return measure::median(times);
}

void StepLoop::add_warnings(std::vector<event::Warning>& warnings) const {
  if (late_batches_ > 0)
    warnings.push_back({"launch overhead",
                        std::to_string(late_batches_) + (late_batches_ == 1 ? " batch: " : " batches: ") + kNotHeld});
  if (ended_ && log_.size() > warmup_ && log_.size() < planned_ && assignment_.method.steps < measure::kMaxFreeSteps)
    warnings.push_back({"fewer steps", store::fewer_steps_text(log_.size() - warmup_, planned_ - warmup_)});
  if (!is_time_pass_ || progress_.outcome().status != RunStatus::kOk || log_.size() <= warmup_) return;
  if (stopping_ && !stopping_->is_precise() && workload_.context().placement().rank == 0)
    warnings.push_back({"imprecise", imprecise_text(*stopping_, assignment_.method.until.value())});
  const std::vector<std::string> unused = log_.unused_phases();
  if (!unused.empty() && (workload_.table().flags & KYMO_PHASES_ARE_OPTIONAL) == 0)
    warnings.push_back({"unused phases", "the workload declares phases that no step entered: " + join(unused, ", ")});
  const bool sync = assignment_.method.timing == measure::Timing::kSync;
  if (!sync && !(hot_ && timer_)) return;
  const std::int64_t step_ns = log_.median_ns();
  if (hot_ && step_ns < kLeastDeviceNs) warnings.push_back({"short steps", idle_device_text(step_ns)});
  if (sync && step_ns < kMinEmptyIntervals * empty_interval_ns_)
    warnings.push_back({"short steps", short_steps_text(step_ns, empty_interval_ns_, assignment_, workload_.table())});
}

void StepLoop::add_records(event::PassRecord& record) {
  record.scheduling = scheduling_.take(log_.run_start_ns());
  add_warnings(record.warnings);
  if (!hot_ || !batch_.found()) return;
  event::Metric metric;
  metric.name = "steps_per_sample";
  metric.number = static_cast<double>(batch_.steps());
  metric.unit = "steps";
  record.metrics.push_back(std::move(metric));
}

}  // namespace kymo::worker
