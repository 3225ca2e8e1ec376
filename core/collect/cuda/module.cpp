// SPDX-License-Identifier: Apache-2.0
// kymo_cuda: event timing and GPU readings. They accompany every pass on a GPU and cost the timed stretch two event records per phase.
#include <cuda_runtime_api.h>

#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "collect/collector.hpp"
#include "collect/cuda/cuda_devices.hpp"
#include "collect/cuda/cuda_error.hpp"
#include "collect/cuda/event_timer.hpp"
#include "collect/cuda/nvml.hpp"

namespace kymo::collect {
namespace {

// A reading takes up to some milliseconds, in which the GPU idles. Taken beside every step of a short workload it would leave the GPU
// idle most of the time and lower the very clocks it watches, while NVML renews its figures only some ten times a second.
constexpr std::int64_t kReadingIntervalNs = 50'000'000;

constexpr const char* kName = "kymo_cuda";

class CudaCollector final : public Collector {
 public:
  std::string name() const override { return kName; }

  void arm(const PassSetting& setting) override {
    setting_ = setting;
    readings_.clear();
    losses_.clear();
    next_reading_ns_ = 0;
    const event::Device device = cuda_device(setting.device_index);
    try {
      check_cuda(cudaSetDevice(setting.device_index), "choosing the device");
      timer_.prepare();
    } catch (const std::runtime_error& error) {
      throw Unavailable(error.what());
    }
    open_nvml(device.uuid);
  }

  void step_begin(std::int64_t) override { timer_.begin_step(); }
  void phase_begin(std::size_t phase, void* stream) override { timer_.begin_phase(phase, stream); }
  void phase_end() override { timer_.end_phase(); }

  void between_steps(std::int64_t step) override {
    const std::int64_t now = now_ns();
    if (!nvml_ || now < next_reading_ns_) return;
    event::GpuSample reading;
    reading.step = step;
    reading.time_ns = now - setting_.run_start_ns;
    nvml_->read(reading);
    readings_.push_back(reading);
    next_reading_ns_ = now + kReadingIntervalNs;
  }

  void disarm(event::PassRecord& record) override {
    record.gpu_samples.insert(record.gpu_samples.end(), readings_.begin(), readings_.end());
    record.losses.insert(record.losses.end(), losses_.begin(), losses_.end());
    if (timer_.untimed() > 0)
      record.losses.push_back({kName, timer_.untimed(), "phase entries without device time: " + timer_.last_reason()});
    if (record.out_of_memory && record.out_of_memory->where == "device" && !record.out_of_memory->free_bytes) {
      record.out_of_memory->free_bytes = free_bytes();
    }
  }

  EventTimer& timer() { return timer_; }

 private:
  void open_nvml(const std::string& uuid) {
    try {
      if (!nvml_) nvml_ = std::make_unique<Nvml>();
      nvml_->select(uuid);
    } catch (const Unavailable& reason) {
      nvml_.reset();
      losses_.push_back({kName, -1, std::string("no clocks, power and temperature: ") + reason.what()});
    }
  }

  static std::optional<std::int64_t> free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    if (cudaMemGetInfo(&free, &total) == cudaSuccess) return static_cast<std::int64_t>(free);
    cudaGetLastError();
    return std::nullopt;
  }

  PassSetting setting_;
  EventTimer timer_;
  std::unique_ptr<Nvml> nvml_;
  std::vector<event::GpuSample> readings_;
  std::vector<event::Loss> losses_;
  std::int64_t next_reading_ns_ = 0;
};

std::unique_ptr<Collector> make_collector() { return std::make_unique<CudaCollector>(); }
DeviceTimer* timer_of(Collector& collector) { return &static_cast<CudaCollector&>(collector).timer(); }

const Module kModule{KYMO_BUILD_ID, make_collector, timer_of, cuda_devices, nvidia_driver_version};

}  // namespace
}  // namespace kymo::collect

extern "C" __attribute__((visibility("default"))) const kymo::collect::Module* kymo_module() { return &kymo::collect::kModule; }
