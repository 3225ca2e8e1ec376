// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "collect/cuda/cache_flush.hpp"
#include "collect/cuda/stream_hold.hpp"

namespace kymo::collect {

/// Times phases on the device by pairs of events on the phase's stream. The pairs are made when the pass is armed and
/// used again in each step.
class EventTimer final : public DeviceTimer {
 public:
  EventTimer() = default;
  ~EventTimer() override;
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;

  /// Makes the events on the current device; throws std::runtime_error.
  void prepare();

  void begin_step() {
    used_ = 0;
    in_batch_ = false;
  }
  void begin_phase(std::size_t phase, void* stream);
  void end_phase();

  void synchronize() override;
  bool is_capturing(void* stream) override;
  void take_step(std::vector<std::int64_t>& phase_ns, std::int64_t& whole_step_ns) override;
  void begin_batch() override { in_batch_ = true; }
  void end_batch() override;
  void flush(void* stream) override;
  void block(void* stream) override;
  bool release() override { return hold_ ? hold_->release() : true; }

  /// Gives back what flush() and block() took.
  void end_cold();

  /// How many entries could not be timed since prepare(), and why the last one could not.
  std::int64_t untimed() const { return untimed_; }
  const std::string& last_reason() const { return last_reason_; }

 private:
  /// One entry into a phase.
  struct Entry {
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    cudaStream_t stream = nullptr;
    std::size_t phase = 0;
    bool captured = false;  // recorded into a graph, which keeps using the events
    bool moved = false;     // to another stream within a batch: its end says nothing of the work before
    cudaError_t error = cudaSuccess;
  };

  Entry make_entry();
  cudaError_t record(cudaEvent_t event, Entry& entry);
  void record_end();
  void count_untimed(std::string reason);
  bool elapsed(cudaEvent_t from, cudaEvent_t to, std::int64_t& ns);
  void replace_captured();

  std::vector<Entry> entries_;      // the first used_ belong to the step at hand
  std::vector<cudaEvent_t> given_;  // events that graphs hold; destroyed with the timer
  std::size_t used_ = 0;
  std::int64_t untimed_ = 0;
  std::string last_reason_;
  bool in_batch_ = false;
  std::optional<CacheFlush> flush_;
  std::unique_ptr<StreamHold> hold_;
};

}  // namespace kymo::collect
