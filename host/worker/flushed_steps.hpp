// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "worker/step_driver.hpp"

namespace kymo::worker {

/// Size of this machine's largest CPU cache in bytes; if the system does not report it, an estimate that is rather too
/// large.
std::size_t host_cache_bytes();

/// Evicts the content of the CPU's last-level cache.
class HostCache {
 public:
  /// Allocates 1.25 times `cache_bytes`. Throws std::bad_alloc.
  explicit HostCache(std::size_t cache_bytes = host_cache_bytes());

  /// Writes every cache line of that memory.
  void flush();
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  std::size_t size_bytes_;
  std::unique_ptr<unsigned char[]> memory_;
};

/// Timing cold: flushes the caches before each step, and blocks the phase's stream until all work of a measured step is
/// enqueued.
class FlushedSteps final : public StepDriver {
 public:
  using StepDriver::StepDriver;

  void begin() override;
  bool settle() override;

 protected:
  bool time(std::int64_t step) override;
  kymo_status call() override;

 private:
  /// Called after a successful step: false if the stream was not blocked as required.
  bool was_blocked();

  std::optional<HostCache> host_cache_;  // on a CPU
  bool blocks_ = false;                  // the stream, until the work of a step is enqueued
  bool released_in_time_ = true;
};

}  // namespace kymo::worker
