// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "collect/cuda/cupti_session.hpp"
#include "collect/cuda/device_memory_sampler.hpp"
#include "collect/cuda/event_timer.hpp"
#include "collect/cuda/nvml.hpp"

namespace kymo::collect {

/// Event timing and GPU readings in every pass; GPU memory in passes that record events; and all GPU activity in the
/// trace and ops passes.
class CudaCollector final : public Collector {
 public:
  ~CudaCollector() override;

  std::string name() const override;
  void arm(const PassSetting& setting) override;
  void before_steps() override;
  void step_begin(std::int64_t step) override;
  void phase_begin(std::size_t phase, void* stream) override;
  void phase_end() override;
  bool wants_scopes() const override { return nvtx_; }
  void scope_begin(const char* name) override;
  void scope_end() override;
  void between_steps(std::int64_t step) override;
  void reset() override;
  void disarm(event::PassRecord& record) override;

  EventTimer& timer() { return timer_; }

 private:
  void forget();
  void start_tracing();
  void start_on_device();
  void open_nvml();
  void select_on_nvml(const std::string& uuid);
  void start_memory(const std::string& uuid, const std::vector<Nvml::Use>& before_cuda, std::int64_t before_cuda_ns);
  void note_memory(const char* moment, std::int64_t step);

  PassSetting setting_;
  EventTimer timer_;
  std::unique_ptr<Nvml> nvml_;
  std::unique_ptr<CuptiSession> session_;
  std::unique_ptr<DeviceMemorySampler> memory_;  // uses nvml_, so it is destroyed first
  std::vector<event::GpuSample> readings_;
  std::vector<event::DroppedRecords> dropped_records_;
  std::int64_t next_reading_ns_ = 0;
  bool events_only_ = false;
  bool nvtx_ = false;
};

}  // namespace kymo::collect
