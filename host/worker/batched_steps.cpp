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

bool BatchedSteps::settle(std::int64_t step, std::int64_t planned) {
  blocks_next_ = false;
  while (!batch_.found()) {
    if (!run_unrecorded_batch(step, planned)) return false;
    batch_.measured(interval_.elapsed_ns);
  }
  return !timer_ || settle_blocking(step, planned);
}

bool BatchedSteps::settle_blocking(std::int64_t step, std::int64_t planned) {
  const BatchSize whole = batch_;
  blocks_next_ = true;
  do {
    if (!run_unrecorded_batch(step, planned)) return false;
    blocks_ = released_in_time_;
  } while (!blocks_ && batch_.shrink());
  if (blocks_) return true;
  ++late_batches_;
  batch_ = whole;
  return true;
}

bool BatchedSteps::run_unrecorded_batch(std::int64_t step, std::int64_t planned) {
  count_ = batch_.steps();
  return run_unrecorded(step, planned);
}

bool BatchedSteps::run(const NextSteps& next, StepLog& log) {
  count_ = next.warmup ? 1 : batch_.steps();
  blocks_next_ = blocks_ && !next.warmup;
  if (!StepDriver::run(next, log)) return false;
  late_batches_ += !released_in_time_;
  interval_.blocked = blocks_;
  return true;
}

bool BatchedSteps::time(std::int64_t step) {
  workload_.phases().before_entry(timer_, false, blocks_next_);
  return StepDriver::time(step);
}

kymo_status BatchedSteps::call() {
  if (timer_) timer_->begin_batch();
  kymo_status status = KYMO_OK;
  for (std::int64_t i = 0; i < count_ && status == KYMO_OK; ++i) status = workload_.step();
  if (timer_) timer_->end_batch();
  released_in_time_ = !timer_ || !blocks_next_ || timer_->release();
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
