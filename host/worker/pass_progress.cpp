// SPDX-License-Identifier: Apache-2.0
#include "worker/pass_progress.hpp"

#include <cstring>

#include "base/clock.hpp"

namespace kymo::worker {
using measure::RunStatus;

namespace {

constexpr const char* kCancelled = "the run was cancelled";
constexpr const char* kClockWentBack =
    "the host clock (CLOCK_MONOTONIC_RAW) went backwards during a step, so that times on this machine are not valid";

}  // namespace

void PassProgress::spare_system_calls() {
  beat_interval_ns_ = 250'000'000;  // the steps wait while the supervisor is woken up, which takes 70 µs
  polls_each_step_ = false;
}

bool PassProgress::announce(const char* stage, std::int64_t step, std::int64_t steps) {
  const std::int64_t now = now_ns();
  const bool same = std::strcmp(stage, stage_) == 0;
  stage_ = stage;
  step_ = step;
  if (workload_.context().status_page()) workload_.context().status_page()->set_step(step);
  if (same && now < next_beat_ns_) return false;
  next_beat_ns_ = now + beat_interval_ns_;
  control_.send(measure::protocol::Progress{stage, step, steps});
  return true;
}

bool PassProgress::check_call(kymo_status status) {
  if (workload_.context().interrupted()) return end(RunStatus::kInterrupted, kCancelled);
  const std::string violation = workload_.context().violation();
  if (!violation.empty()) return end(RunStatus::kFailed, violation);
  if (status == KYMO_OK) return true;
  const measure::Outcome result = classify(status, workload_.context().reported(), device_);
  outcome_.out_of_memory = result.out_of_memory;
  return end(result.status, result.detail);
}

bool PassProgress::check_clock(std::int64_t step_ns) { return step_ns >= 0 || end(RunStatus::kFailed, kClockWentBack); }

bool PassProgress::end(RunStatus status, const std::string& detail) {
  const bool is_first = outcome_.failed_ns < 0;
  if (is_first) outcome_.failed_ns = now_ns();
  // Report this immediately, because other ranks may fail as a consequence and finish first.
  if (is_first && (status == RunStatus::kFailed || status == RunStatus::kOom))
    control_.send(measure::protocol::Progress{stage_, step_, 0, true});
  outcome_.status = status;
  outcome_.detail = first_line(detail);
  outcome_.stage = stage_;
  outcome_.step = step_;
  outcome_.phase = workload_.phases().current();
  return false;
}

bool PassProgress::give_up(const std::string& detail) {
  workload_.context().cancel();
  return end(RunStatus::kSkipped, detail);
}

bool PassProgress::should_continue() { return control_.cancelled() ? end(RunStatus::kInterrupted, kCancelled) : true; }

bool PassProgress::barrier(bool& stop) {
  const Release release = control_.barrier(stop);
  stop = release == Release::kStop;
  return release == Release::kCancelled ? end(RunStatus::kInterrupted, kCancelled) : true;
}

}  // namespace kymo::worker
