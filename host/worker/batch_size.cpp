// SPDX-License-Identifier: Apache-2.0
#include "worker/batch_size.hpp"

#include <algorithm>

namespace kymo::worker {
namespace {

// In a batch of few steps, launch and synchronization overhead dominate, so the batch does not predict the time per
// step of a large batch.
constexpr std::int64_t kMinGrowth = 2;
constexpr std::int64_t kMaxGrowth = 10;

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

}  // namespace kymo::worker
