// SPDX-License-Identifier: Apache-2.0
#include "worker/pass_run.hpp"

#include <cstring>

#include "base/clock.hpp"

namespace kymo::worker {
using measure::RunStatus;

namespace {

constexpr std::int64_t kBeatIntervalNs = 50'000'000;

}  // namespace

PassRun::PassRun(const measure::protocol::Assignment& the_assignment, const kymo_workload& the_workload,
                 ControlClient& the_control, std::int64_t start_ns)
    : assignment(the_assignment),
      workload(the_workload),
      control(the_control),
      run_start_ns(start_ns),
      phases(workload.phases, workload.phase_count),
      context(assignment, workload, phases, control, run_start_ns) {}

void PassRun::announce(const char* stage, std::int64_t step, std::int64_t steps) {
  const std::int64_t now = now_ns();
  const bool same = std::strcmp(stage, stage_) == 0;
  stage_ = stage;
  step_ = step;
  if (context.status_page()) context.status_page()->set_step(step);
  if (same && now < next_beat_ns_) return;
  next_beat_ns_ = now + kBeatIntervalNs;
  control.send(measure::protocol::Progress{stage, step, steps});
}

kymo_status PassRun::caught(kymo_status status, const char* what) {
  context.fail((std::string("an exception crossed the plugin boundary: ") + what).c_str());
  return status;
}

bool PassRun::check_call(kymo_status status) {
  if (context.interrupted()) return end(RunStatus::kInterrupted, "the run was cancelled");
  const std::string violation = context.violation();
  if (!violation.empty()) return end(RunStatus::kFailed, violation);
  if (status == KYMO_OK) return true;
  const measure::Outcome result = classify(status, context.reported(), assignment.what.device);
  outcome.out_of_memory = result.out_of_memory;
  return end(result.status, result.detail);
}

bool PassRun::end(RunStatus status, const std::string& detail) {
  const bool is_first = outcome.failed_ns < 0;
  if (is_first) outcome.failed_ns = now_ns();
  // Report this immediately, because other ranks may fail as a consequence and finish first.
  if (is_first && (status == RunStatus::kFailed || status == RunStatus::kOom))
    control.send(measure::protocol::Progress{stage_, step_, 0, true});
  outcome.status = status;
  outcome.detail = first_line(detail);
  outcome.stage = stage_;
  outcome.step = step_;
  outcome.phase = phases.current();
  return false;
}

bool PassRun::should_continue() {
  return control.cancelled() ? end(RunStatus::kInterrupted, "the run was cancelled") : true;
}

}  // namespace kymo::worker
