// SPDX-License-Identifier: Apache-2.0
#include "worker/step_loop.hpp"

#include <algorithm>
#include <cstdio>

#include "base/clock.hpp"
#include "base/file_mapping.hpp"
#include "base/text.hpp"
#include "measure/plan.hpp"
#include "store/journal_recovery.hpp"

namespace kymo::worker {
using measure::RunStatus;

namespace {

constexpr double kSecondsPerNs = 1e-9;

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

}  // namespace

StepLoop::StepLoop(const measure::protocol::Assignment& assignment, std::int64_t run_start_ns,
                   const ArmedCollectors& collectors, WorkloadInstance& workload, PassProgress& progress,
                   StepDriver& driver)
    : assignment_(assignment),
      collectors_(collectors),
      workload_(workload),
      progress_(progress),
      driver_(driver),
      log_(workload.phases().names(), run_start_ns),
      warmup_(assignment.method.warmup),
      planned_(measure::planned_steps(assignment.method)),
      is_time_pass_(assignment.pass == measure::Pass::kTime),
      scheduling_("/proc", driver.scheduling_share()) {
  // Steps on a GPU hardly depend on the host's processor, other ranks would be taken for a busy machine, and the time
  // between the steps of an observed program is the program's.
  const measure::Case& what = assignment.what;
  if (is_time_pass_ && what.device == measure::DeviceKind::kCpu && what.ranks == 1 &&
      assignment.method.timing != measure::Timing::kFree)
    reference_.emplace();
  const auto& until = assignment.method.until;
  if (until) stopping_.emplace(*until);
  if (assignment.method.max_pass_time_s > 0 && assignment.rank == 0) pace_.emplace(assignment.method);
  log_.reserve(warmup_ + (until ? until->max_samples : assignment.method.steps));
}

bool StepLoop::enough() const {
  return stopping_ && stopping_->enough(static_cast<double>(now_ns() - measuring_since_ns_) * kSecondsPerNs);
}

std::int64_t StepLoop::limit_at(std::int64_t step) const {
  if (is_warmup(step)) return warmup_ - step;
  return stopping_ ? measure::kMaxFreeSteps : planned_ - step;
}

bool StepLoop::run() {
  driver_.begin();
  for (collect::Collector* collector : collectors_.all) collector->before_steps();
  if (!run_steps()) return false;
  workload_.context().set_step(-1);
  if (!too_slow_.empty()) return progress_.give_up(too_slow_);
  if (driver_.ended() && !measured_before_end()) return false;
  // Rank 0 may have given up during the warm-up.
  if (!is_time_pass_ || measuring_since_ns_ == 0) return true;
  scheduling_.end(now_ns());
  if (reference_) reference_->end(log_.size() - 1);
  driver_.end();
  return true;
}

bool StepLoop::run_steps() {
  while (stopping_ || log_.size() < planned_) {
    const std::int64_t step = log_.size();
    if (pace_) too_slow_ = pace_->problem();
    if (step == warmup_ && too_slow_.empty() && !begin_measuring()) return false;
    bool stop = !too_slow_.empty() || (!is_warmup(step) && enough());
    if (stop && !driver_.has_barrier()) return true;
    const bool announced = progress_.announce(is_warmup(step) ? "warmup" : "step", step, planned_);
    workload_.context().set_step(step);
    if (announced) FileMapping::guard();
    if ((announced || progress_.polls_each_step()) && !progress_.should_continue()) return false;
    if (!driver_.prepare(stop)) return false;
    if (stop) return true;
    const bool goes_on = driver_.run({step, limit_at(step), is_warmup(step), announced || disturbed_}, log_);
    evaluate(step);
    if (driver_.ended()) return true;
    if (!goes_on) return false;
    for (collect::Collector* collector : collectors_.all) collector->between_steps(log_.size() - 1);
    driver_.journalize(log_);
  }
  return true;
}

bool StepLoop::begin_measuring() {
  if (!driver_.settle()) return false;
  measuring_since_ns_ = now_ns();
  if (is_time_pass_) scheduling_.begin(measuring_since_ns_);
  if (reference_) reference_->begin(log_.size() - 1, now_ns());
  return true;
}

void StepLoop::evaluate(std::int64_t first) {
  const std::int64_t count = log_.size() - first;
  if (count == 0) return;
  const Interval& interval = driver_.interval();
  disturbed_ =
      is_time_pass_ && !is_warmup(first) && scheduling_.add(log_.size() - 1, count, interval.usage, interval.end_ns);
  if (reference_ && !is_warmup(first))
    reference_->add(log_.size() - 1, interval.usage, interval.elapsed_ns, interval.end_ns);
  if (interval.suspended) {
    suspended_.push_back(first);
    measuring_since_ns_ += interval.elapsed_ns;  // the stopping rule ignores the step
    return;
  }
  if (pace_) pace_->add(static_cast<double>(interval.elapsed_ns) * kSecondsPerNs);
  if (!stopping_ || is_warmup(first)) return;
  for (const event::StepTime& time : log_.steps().last(static_cast<std::size_t>(count))) {
    const bool by_device = interval.blocked && time.device_ns >= 0;
    stopping_->add(static_cast<double>(by_device ? time.device_ns : time.end_ns - time.begin_ns),
                   static_cast<double>(interval.elapsed_ns) / static_cast<double>(count));
  }
}

bool StepLoop::measured_before_end() {
  if (log_.size() > warmup_) return true;
  if (assignment_.what.parameters.contains(measure::kWindowParameter))  // the program need not reach each window
    return progress_.give_up("the program ended before the window");
  if (log_.size() == 0) return progress_.end(RunStatus::kFailed, "the program ended before the end of the first step");
  return progress_.end(RunStatus::kFailed, "the program ended after " + std::to_string(log_.size()) +
                                               " complete steps of this pass, of which the first " +
                                               std::to_string(warmup_) + " are warm-up steps: none was measured");
}

void StepLoop::exclude_suspended(event::PassRecord& record) const {
  const auto excluded = [&](std::int64_t step) { return std::ranges::binary_search(suspended_, step); };
  for (event::Sample& sample : record.samples) sample.throttled |= excluded(sample.step);
  const auto measured = std::ranges::count_if(suspended_, [&](std::int64_t step) { return !is_warmup(step); });
  // No record is missing; the views list this source as warning `suspended`.
  if (measured > 0) record.dropped_records.push_back({"suspended", measured, ""});
}

bool StepLoop::is_complete() const {
  return is_time_pass_ && progress_.outcome().status == RunStatus::kOk && log_.size() > warmup_;
}

void StepLoop::add_warnings(std::vector<event::Warning>& warnings) const {
  if (driver_.ended() && log_.size() > warmup_ && log_.size() < planned_ &&
      assignment_.method.steps < measure::kMaxFreeSteps)
    warnings.push_back({"fewer steps", store::fewer_steps_text(log_.size() - warmup_, planned_ - warmup_)});
  if (!is_complete()) return;
  if (stopping_ && !stopping_->is_precise() && workload_.context().placement().rank == 0)
    warnings.push_back({"imprecise", imprecise_text(*stopping_, assignment_.method.until.value())});
  const std::vector<std::string> unused = log_.unused_phases();
  if (!unused.empty() && (workload_.table().flags & KYMO_PHASES_ARE_OPTIONAL) == 0)
    warnings.push_back({"unused phases", "the workload declares phases that no step entered: " + join(unused, ", ")});
}

void StepLoop::add_records(event::PassRecord& record) {
  record.scheduling = scheduling_.take(log_.run_start_ns());
  if (reference_) record.reference_loops = reference_->take();
  add_warnings(record.warnings);
  driver_.add_records(record, is_complete() ? std::optional(log_.median_ns()) : std::nullopt);
}

}  // namespace kymo::worker
