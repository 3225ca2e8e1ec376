// SPDX-License-Identifier: Apache-2.0
#include "worker/batched_steps.hpp"

#include <algorithm>
#include <utility>

namespace kymo::worker {
namespace {

// In a batch of few steps, launch and synchronization overhead dominate, so the batch does not predict the time per
// step of a large batch.
constexpr std::int64_t kMinGrowth = 2;
constexpr std::int64_t kMaxGrowth = 10;

/// Every operation on a GPU takes longer.
constexpr std::int64_t kLeastDeviceNs = 100;

constexpr const char* kNotHeld =
    "--timing hot: a batch could not be enqueued within a second while its stream was blocked: it synchronizes with "
    "the device or enqueues more work than the device accepts; its device time may include launch overhead";

}  // namespace

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

void BatchedSteps::begin() {
  workload_.phases().require_single_phase();
  StepDriver::begin();
}

bool BatchedSteps::settle() {
  while (!batch_.found()) {
    if (!run_unrecorded()) return false;
    batch_.measured(interval_.elapsed_ns);
    count_ = batch_.steps();
  }
  return !timer_ || settle_blocking();
}

bool BatchedSteps::settle_blocking() {
  const BatchSize whole = batch_;
  blocks_ = true;
  do {
    count_ = batch_.steps();
    if (!run_unrecorded()) return false;
    if (released_in_time_) return true;
  } while (batch_.shrink());
  blocks_ = false;
  ++late_batches_;
  batch_ = whole;
  count_ = batch_.steps();
  return true;
}

bool BatchedSteps::run(const NextSteps& next, StepLog& log) {
  const bool goes_on = StepDriver::run(next, log);
  late_batches_ += goes_on && !released_in_time_;
  return goes_on;
}

bool BatchedSteps::time(std::int64_t step) {
  workload_.phases().before_entry(timer_, false, blocks_);
  interval_.blocked = blocks_;
  return StepDriver::time(step);
}

kymo_status BatchedSteps::call() {
  if (timer_) timer_->begin_batch();
  kymo_status status = KYMO_OK;
  for (std::int64_t i = 0; i < count_ && status == KYMO_OK; ++i) status = workload_.step();
  if (timer_) timer_->end_batch();
  released_in_time_ = !timer_ || !blocks_ || timer_->release();
  return status;
}

void BatchedSteps::add_records(event::PassRecord& record, std::optional<std::int64_t> step_ns) const {
  if (late_batches_ > 0)
    record.warnings.push_back({"launch overhead", std::to_string(late_batches_) +
                                                      (late_batches_ == 1 ? " batch: " : " batches: ") + kNotHeld});
  if (timer_ && step_ns && *step_ns < kLeastDeviceNs)
    record.warnings.push_back(
        {"short steps", "a step takes " + std::to_string(*step_ns) +
                            " ns on the device, less than any operation: it enqueues none on the stream of its phase"});
  if (!batch_.found()) return;
  event::Metric metric;
  metric.name = "steps_per_sample";
  metric.number = static_cast<double>(batch_.steps());
  metric.unit = "steps";
  record.metrics.push_back(std::move(metric));
}

}  // namespace kymo::worker
