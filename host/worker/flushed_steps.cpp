// SPDX-License-Identifier: Apache-2.0
#include "worker/flushed_steps.hpp"

#include <unistd.h>

#include <algorithm>

namespace kymo::worker {
using measure::RunStatus;

namespace {

constexpr std::size_t kUnknownCacheBytes = std::size_t{256} << 20;
constexpr std::size_t kLineBytes = 64;

/// Caches are not strictly LRU: writing slightly more than the cache size evicts more of the old content.
constexpr std::size_t with_margin(std::size_t bytes) { return bytes + bytes / 4; }

constexpr const char* kHeldTooLong =
    "--timing cold: the step did not return within a second while its stream was blocked: it synchronizes with the "
    "device or enqueues more work than the device accepts; declare a step asynchronous only if it does neither, or use "
    "--timing sync";
constexpr const char* kNothingToHold =
    "--timing cold: the step did not enter its phase, so there was no stream to flush and block; use --timing sync";

}  // namespace

std::size_t host_cache_bytes() {
  long largest = 0;
  for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE})
    largest = std::max(largest, sysconf(level));
  return largest > 0 ? static_cast<std::size_t>(largest) : kUnknownCacheBytes;
}

HostCache::HostCache(std::size_t cache_bytes)
    : size_bytes_(with_margin(cache_bytes)), memory_(std::make_unique<unsigned char[]>(size_bytes_)) {}

void HostCache::flush() {
  // volatile, because the written values are never read
  volatile unsigned char* const bytes = memory_.get();
  for (std::size_t i = 0; i < size_bytes_; i += kLineBytes) bytes[i] = static_cast<unsigned char>(bytes[i] + 1);
}

void FlushedSteps::begin() {
  if (assignment_.what.device == measure::DeviceKind::kCpu) host_cache_.emplace();
  workload_.phases().require_single_phase();
  StepDriver::begin();
}

bool FlushedSteps::settle() {
  // A first step loads kernels and allocates memory, which would block on a blocked stream.
  if (assignment_.method.warmup == 0 && !run_unrecorded()) return false;
  blocks_ = true;
  return true;
}

bool FlushedSteps::time(std::int64_t step) {
  if (host_cache_) host_cache_->flush();
  workload_.phases().before_entry(timer_, true, blocks_);
  interval_.blocked = true;
  if (!StepDriver::time(step) || !was_blocked()) return false;
  // On a device the flush is enqueued within the step, so the time starts with the phase.
  const PhaseTime* const entered = workload_.phases().entered();
  if (timer_ && entered) interval_.begin_ns = entered->start_ns;
  return true;
}

kymo_status FlushedSteps::call() {
  const kymo_status status = workload_.step();
  released_in_time_ = !timer_ || timer_->release();
  return status;
}

bool FlushedSteps::was_blocked() {
  if (!blocks_ || !timer_) return true;
  if (!released_in_time_) return progress_.end(RunStatus::kFailed, kHeldTooLong);
  return workload_.phases().entered() ? true : progress_.end(RunStatus::kFailed, kNothingToHold);
}

}  // namespace kymo::worker
