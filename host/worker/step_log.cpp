// SPDX-License-Identifier: Apache-2.0
#include "worker/step_log.hpp"

#include <algorithm>
#include <utility>

#include "base/ranges.hpp"
#include "measure/statistics.hpp"

namespace kymo::worker {
namespace {

// A stopping rule may allow far more steps than it needs; beyond this limit the log grows on demand.
constexpr std::int64_t kMaxReserved = 65536;

}  // namespace

StepLog::StepLog(std::vector<std::string> phases, std::int64_t run_start_ns)
    : conversion_(std::move(phases), run_start_ns) {}

void StepLog::reserve(std::int64_t steps) {
  const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(steps, 0, kMaxReserved));
  steps_.reserve(count);
  times_.reserve(count * conversion_.phases().size());
}

void StepLog::add(const event::StepTime& step, std::span<const event::PhaseTime> phases) {
  steps_.push_back(step);
  append_range(times_, phases);
}

std::vector<event::Sample> StepLog::samples() const {
  const std::size_t phases = conversion_.phases().size();
  std::vector<event::Sample> samples;
  samples.reserve(steps_.size() * (phases + 2));
  std::span<const event::PhaseTime> times = times_;
  for (const event::StepTime& step : steps_) {
    conversion_.append(step, times.first(phases), samples);
    times = times.subspan(phases);
  }
  return samples;
}

std::vector<std::string> StepLog::unused_phases() const {
  const std::vector<std::string>& phases = conversion_.phases();
  std::vector<std::string> unused;
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    bool entered = false;
    for (std::size_t i = phase; i < times_.size() && !entered; i += phases.size()) entered = times_[i].calls > 0;
    if (!entered) unused.push_back(phases[phase]);
  }
  return unused;
}

std::int64_t StepLog::median_ns() const {
  std::vector<std::int64_t> host, device;
  for (const event::StepTime& step : steps_) {
    if (step.warmup) continue;
    host.push_back(step.end_ns - step.begin_ns);
    if (step.device_ns >= 0) device.push_back(step.device_ns);
  }
  if (host.empty()) return 0;
  return measure::median(device.size() == host.size() ? device : host);
}

}  // namespace kymo::worker
