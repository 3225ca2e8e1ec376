// SPDX-License-Identifier: Apache-2.0
#include "worker/step_driver.hpp"

#include <atomic>
#include <csignal>

#include "base/clock.hpp"

namespace kymo::worker {
namespace {

std::atomic<int> continued_count{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler changes it");

/// The share of one of `count` steps, rounded to the nearest ns; -1 is returned unchanged.
std::int64_t share(std::int64_t ns, std::int64_t count) { return ns < 0 ? ns : (ns + count / 2) / count; }

}  // namespace

void watch_for_suspensions() {
  struct sigaction action{};
  action.sa_handler = [](int) { ++continued_count; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGCONT, &action, nullptr);
}

StepDriver::StepDriver(const measure::protocol::Assignment& assignment, WorkloadInstance& workload,
                       PassProgress& progress, const ArmedCollectors& collectors)
    : assignment_(assignment),
      workload_(workload),
      progress_(progress),
      collectors_(collectors),
      is_time_pass_(assignment.pass == measure::Pass::kTime),
      device_ns_(workload.phases().names().size(), -1) {}

void StepDriver::begin() {
  timer_ = collectors_.timer;
  const bool by_phase = assignment_.method.sync == measure::Sync::kPhase;
  workload_.phases().observe(collectors_.all, by_phase ? timer_ : nullptr, workload_.context().ranges());
}

bool StepDriver::prepare(bool& stop) {
  if (!progress_.check_call(workload_.before_step())) return false;
  if (!has_barrier()) return true;
  // Work enqueued by before_step() must not delay some ranks: synchronize the device before the barrier too.
  if (timer_) timer_->synchronize();
  return progress_.barrier(stop);
}

bool StepDriver::run_unrecorded() {
  const std::int64_t step = assignment_.method.warmup;
  progress_.announce("warmup", step, measure::planned_steps(assignment_.method));
  workload_.context().set_step(-1);
  bool stop = false;
  if (!progress_.should_continue() || !prepare(stop) || !time(step)) return false;
  std::int64_t unused_ns = 0;
  if (timer_) timer_->take_step(device_ns_, unused_ns);
  return true;
}

bool StepDriver::run(const NextSteps& next, StepLog& log) {
  const int continued_before = continued_count;
  if (!time(next.first)) return false;
  interval_.suspended = continued_count != continued_before;
  std::int64_t device_ns = -1;
  std::vector<PhaseTime>& times = workload_.phases().times();
  if (timer_) {
    timer_->take_step(device_ns_, device_ns);
    for (std::size_t i = 0; i < times.size(); ++i) {
      times[i].device_ns = share(device_ns_[i], count_);
      // A phase of a replayed CUDA graph, which the host does not enter.
      if (times[i].calls == 0 && times[i].device_ns >= 0) times[i] = {1, interval_.begin_ns, 0, times[i].device_ns};
    }
  }
  for (PhaseTime& time : times) {
    time.host_ns = share(time.host_ns, count_);
    time.calls = time.calls / count_ + (time.calls % count_ != 0);
  }
  event::StepTime step{.step = next.first,
                       .begin_ns = interval_.begin_ns,
                       .end_ns = interval_.begin_ns + share(interval_.end_ns - interval_.begin_ns, count_),
                       .device_ns = share(device_ns, count_),
                       .warmup = next.warmup};
  if (is_time_pass_) {
    step.cpu_ns = share(interval_.usage.cpu_ns, count_);
    step.involuntary_switches = interval_.usage.involuntary_switches;
  }
  log.add(step, times);
  return true;
}

bool StepDriver::time(std::int64_t step) {
  workload_.phases().begin_step();
  if (timer_) timer_->synchronize();
  // Work enqueued by before_step() belongs to no step: events are assigned to steps only within the timed interval.
  RangeRecorder* const ranges = workload_.context().ranges();
  if (ranges) ranges->set_step(step);
  const ProcessUsage before = is_time_pass_ ? process_usage() : ProcessUsage();
  interval_.begin_ns = now_ns();
  for (collect::Collector* collector : collectors_.all) collector->step_begin(step);
  const kymo_status status = call();
  if (timer_ && status == KYMO_OK) timer_->synchronize();
  interval_.end_ns = now_ns();
  if (is_time_pass_) interval_.usage = process_usage() - before;
  interval_.elapsed_ns = interval_.end_ns - interval_.begin_ns;
  if (ranges) ranges->set_step(-1);
  workload_.phases().end_step(status == KYMO_OK);
  if (ended()) return false;
  workload_.context().rethrow_kept();
  return progress_.check_clock(interval_.elapsed_ns) && progress_.check_call(status);
}

}  // namespace kymo::worker
