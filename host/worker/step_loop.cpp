// SPDX-License-Identifier: Apache-2.0
#include "worker/step_loop.hpp"

#include "base/clock.hpp"

namespace kymo::worker {
namespace {

constexpr double kSecondsPerNs = 1e-9;

}  // namespace

StepLoop::StepLoop(PassRun& pass)
    : pass_(pass),
      log_(pass.phases.names(), pass.run_start_ns),
      warmup_(pass.assignment.how.warmup),
      planned_(pass.assignment.how.until ? 0 : pass.assignment.how.warmup + pass.assignment.how.steps),
      device_ns_(pass.phases.names().size(), -1) {
  const auto& until = pass.assignment.how.until;
  if (until) stopping_.emplace(*until);
  log_.reserve(warmup_ + (until ? until->max_samples : pass.assignment.how.steps));
  const bool by_phase = pass.assignment.how.sync == measure::Sync::kPhase;
  pass.phases.observe(pass.armed, by_phase ? pass.timer : nullptr, pass.context.ranges());
}

bool StepLoop::enough() const {
  return stopping_ && stopping_->enough(static_cast<double>(now_ns() - measuring_since_ns_) * kSecondsPerNs);
}

bool StepLoop::run() {
  for (collect::Collector* collector : pass_.armed) collector->before_steps();
  for (std::int64_t step = 0; stopping_ || step < planned_; ++step) {
    if (step == warmup_) measuring_since_ns_ = now_ns();
    bool stop = !is_warmup(step) && enough();
    const bool alone = pass_.assignment.what.ranks == 1;
    if (stop && alone) break;
    pass_.announce(is_warmup(step) ? "warmup" : "step", step, planned_);
    pass_.context.set_step(step);
    if (!pass_.go_on() || !prepare_step(stop)) return false;
    if (stop) break;
    if (!timed_step(step)) return false;
  }
  pass_.context.set_step(-1);
  return true;
}

bool StepLoop::prepare_step(bool& stop) {
  if (pass_.workload.before_step) {
    const kymo_status status = pass_.call([&] { return pass_.workload.before_step(pass_.instance, pass_.context.handle()); });
    if (!pass_.judge_call(status)) return false;
  }
  if (pass_.assignment.what.ranks == 1) return true;
  // What before_step queued must not make ranks start apart: the device is idle before the barrier too.
  if (pass_.timer) pass_.timer->synchronize();
  const Release release = pass_.control.barrier(stop);
  stop = release == Release::kStop;
  return release == Release::kCancelled ? pass_.end("interrupted", "the run was cancelled") : true;
}

bool StepLoop::timed_step(std::int64_t step) {
  pass_.phases.begin_step();
  if (pass_.timer) pass_.timer->synchronize();
  // What before_step queued belongs to no step: events are placed by the timed stretch alone.
  RangeRecorder* const ranges = pass_.context.ranges();
  if (ranges) ranges->set_step(step);
  const std::int64_t begin_ns = now_ns();
  for (collect::Collector* collector : pass_.armed) collector->step_begin(step);
  const kymo_status status = pass_.attempt([&] { return pass_.workload.step(pass_.instance, pass_.context.handle()); });
  if (pass_.timer && status == KYMO_OK) pass_.timer->synchronize();
  const std::int64_t end_ns = now_ns();
  for (collect::Collector* collector : pass_.armed) collector->step_end(step);
  if (ranges) ranges->set_step(-1);
  pass_.phases.end_step(status == KYMO_OK);
  pass_.context.rethrow_kept();
  if (!pass_.judge_call(status)) return false;
  keep(step, begin_ns, end_ns);
  for (collect::Collector* collector : pass_.armed) collector->between_steps(step);
  return true;
}

void StepLoop::keep(std::int64_t step, std::int64_t begin_ns, std::int64_t end_ns) {
  std::int64_t whole_device_ns = -1;
  std::vector<PhaseTime>& times = pass_.phases.times();
  if (pass_.timer) {
    pass_.timer->take_step(device_ns_, whole_device_ns);
    for (std::size_t i = 0; i < times.size(); ++i) times[i].device_ns = device_ns_[i];
  }
  log_.add(step, is_warmup(step), begin_ns, end_ns, times, whole_device_ns);
  if (stopping_ && !is_warmup(step)) stopping_->add(static_cast<double>(end_ns - begin_ns));
}

}  // namespace kymo::worker
