// SPDX-License-Identifier: Apache-2.0
#include "worker/step_log.hpp"

#include <algorithm>

#include "base/ranges.hpp"
#include "measure/statistics.hpp"

namespace kymo::worker {
namespace {

// A stopping rule may allow far more steps than it needs; beyond this limit the log grows on demand.
constexpr std::int64_t kMaxReserved = 65536;

std::optional<std::int64_t> present(std::int64_t device_ns) {
  return device_ns < 0 ? std::nullopt : std::optional<std::int64_t>(device_ns);
}

}  // namespace

StepLog::StepLog(std::vector<std::string> phases, std::int64_t run_start_ns)
    : phases_(std::move(phases)), run_start_ns_(run_start_ns) {}

void StepLog::reserve(std::int64_t steps) {
  const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(steps, 0, kMaxReserved));
  steps_.reserve(count);
  times_.reserve(count * phases_.size());
}

void StepLog::add(std::int64_t step, bool warmup, std::int64_t begin_ns, std::int64_t end_ns,
                  const std::vector<PhaseTime>& phases, std::int64_t whole_device_ns,
                  const std::optional<ProcessUsage>& usage) {
  steps_.push_back({step, begin_ns, end_ns, whole_device_ns, warmup, usage});
  append_range(times_, phases);
}

std::vector<event::Sample> StepLog::samples() const {
  std::vector<event::Sample> samples;
  samples.reserve(steps_.size() * (phases_.size() + 2));
  const PhaseTime* phases = times_.data();
  for (const Step& step : steps_) {
    append(step, phases, samples);
    phases += phases_.size();
  }
  return samples;
}

std::vector<event::Sample> StepLog::last_samples() const {
  std::vector<event::Sample> samples;
  if (!steps_.empty()) append(steps_.back(), times_.data() + times_.size() - phases_.size(), samples);
  return samples;
}

void StepLog::append(const Step& step, const PhaseTime* phases, std::vector<event::Sample>& samples) const {
  event::Sample whole;
  whole.step = step.step;
  whole.phase = event::kWholeStep;
  whole.warmup = step.warmup;
  whole.start_ns = step.begin_ns - run_start_ns_;
  whole.host_ns = step.end_ns - step.begin_ns;
  whole.device_ns = present(step.device_ns);
  if (step.usage) {
    whole.cpu_ns = step.usage->cpu_ns;
    whole.involuntary_switches = step.usage->involuntary_switches;
  }
  samples.push_back(whole);
  if (!phases_.empty()) append_phases(step, phases, samples);
}

std::vector<std::string> StepLog::unused_phases() const {
  std::vector<std::string> unused;
  for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
    bool entered = false;
    for (std::size_t i = phase; i < times_.size() && !entered; i += phases_.size()) entered = times_[i].calls > 0;
    if (!entered) unused.push_back(phases_[phase]);
  }
  return unused;
}

std::int64_t StepLog::median_ns() const {
  std::vector<std::int64_t> host, device;
  for (const Step& step : steps_) {
    if (step.warmup) continue;
    host.push_back(step.end_ns - step.begin_ns);
    if (step.device_ns >= 0) device.push_back(step.device_ns);
  }
  if (host.empty()) return 0;
  return measure::median(device.size() == host.size() ? device : host);
}

void StepLog::append_phases(const Step& step, const PhaseTime* phases, std::vector<event::Sample>& samples) const {
  event::Sample other;
  other.step = step.step;
  other.phase = event::kOtherPhase;
  other.warmup = step.warmup;
  other.start_ns = step.begin_ns - run_start_ns_;
  std::int64_t host_ns = step.end_ns - step.begin_ns;
  std::int64_t device_ns = step.device_ns;
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    const PhaseTime& time = phases[i];
    if (time.calls == 0) continue;
    event::Sample sample = other;
    sample.phase = phases_[i];
    sample.calls = time.calls;
    sample.start_ns = time.start_ns - run_start_ns_;
    sample.host_ns = time.host_ns;
    sample.device_ns = present(time.device_ns);
    samples.push_back(std::move(sample));
    host_ns -= time.host_ns;
    device_ns -= std::max<std::int64_t>(time.device_ns, 0);
  }
  other.host_ns = std::max<std::int64_t>(host_ns, 0);
  // Phases on several streams may overlap on the device and exceed the step time; then the remainder `other` is 0.
  if (step.device_ns >= 0) other.device_ns = std::max<std::int64_t>(device_ns, 0);
  samples.push_back(std::move(other));
}

}  // namespace kymo::worker
