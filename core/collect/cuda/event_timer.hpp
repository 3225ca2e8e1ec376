// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "collect/cuda/stream_hold.hpp"

namespace kymo::collect {

/// Evicts the L2 cache of the current device by writing memory.
class CacheFlush {
 public:
  /// Allocates twice the size of the L2 cache. Throws std::runtime_error.
  CacheFlush();
  ~CacheFlush();
  CacheFlush(const CacheFlush&) = delete;
  CacheFlush& operator=(const CacheFlush&) = delete;

  /// Queues a memset of that memory. Throws std::runtime_error.
  void queue(cudaStream_t stream);

 private:
  void* memory_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// Measures the device time of phases with pairs of CUDA events on the phase's stream. The events are created when the
/// pass is armed and reused in each step. Phases that were captured into a CUDA graph are timed in each step that
/// replays it, and interrupt the phase of the replay; in batches, only the phase of the replay is timed.
class EventTimer final : public DeviceTimer {
 public:
  EventTimer() = default;
  ~EventTimer() override;
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;

  /// Creates the events on the current device. Throws std::runtime_error.
  void prepare();

  void begin_step() {
    used_ = 0;
    in_batch_ = is_batch_ = false;
  }
  void begin_phase(std::size_t phase, void* stream);
  void end_phase();

  void synchronize() override;
  bool is_capturing(void* stream) override;
  void take_step(std::vector<std::int64_t>& phase_ns, std::int64_t& whole_step_ns) override;
  void begin_batch() override { in_batch_ = is_batch_ = true; }
  void end_batch() override;
  void flush(void* stream) override;
  void block(void* stream) override;
  bool release() override { return hold_ ? hold_->release() : true; }

  /// Releases the resources of flush() and block().
  void end_cold();

  /// Number of phase entries since prepare() that could not be timed, and the reason for the last one.
  std::int64_t untimed() const { return untimed_; }
  const std::string& last_reason() const { return last_reason_; }

 private:
  /// One entry into a phase.
  struct Entry {
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    cudaStream_t stream = nullptr;
    std::size_t phase = 0;
    bool captured = false;  // recorded into a graph, whose replays record the events
    bool moved = false;     // the stream changed within a batch, so the end event does not cover all of its work
    cudaError_t error = cudaSuccess;
  };

  /// A timed entry, relative to the first one of the step.
  struct Interval {
    std::size_t phase = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };

  Entry make_entry();
  cudaError_t record(cudaEvent_t event, Entry& entry);
  void record_end();
  void count_untimed(std::string reason);
  bool elapsed(cudaEvent_t from, cudaEvent_t to, std::int64_t& ns);
  void take_captured();
  void add_replayed(const std::vector<Interval>& entered, std::vector<std::int64_t>& phase_ns);

  std::vector<Entry> entries_;   // the first used_ belong to the current step
  std::vector<Entry> captured_;  // of all graphs; those from first_captured_ on may be replayed in this pass
  std::size_t first_captured_ = 0;
  std::size_t used_ = 0;
  std::int64_t untimed_ = 0;
  std::string last_reason_;
  bool in_batch_ = false;
  bool is_batch_ = false;  // the step is one
  std::optional<CacheFlush> flush_;
  std::unique_ptr<StreamHold> hold_;
};

}  // namespace kymo::collect
