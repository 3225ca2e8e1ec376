// SPDX-License-Identifier: Apache-2.0
// kymo_torch_cuda: peaks of LibTorch's CUDA caching allocator, its state after each step, details of a failed request,
// and in the memory pass all of its events.
#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/ranges.hpp"
#include "collect/collector.hpp"
#include "collect/reading_interval.hpp"
#include "collect/torch_cuda/allocator_trace.hpp"

namespace kymo::collect {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

constexpr const char* kName = "kymo_torch_cuda";
// Maximum number of readings of a pass, 40 bytes each; further ones are counted as dropped records.
constexpr std::size_t kMaxReadings = 100'000;
// Reserved before the first step, so that short passes do not allocate between steps.
constexpr std::size_t kReadingsReserved = 1024;
constexpr std::int64_t kBeforeSteps = -1;

/// Details that the allocator reports when a request fails. The allocator keeps its observers forever, so the observer
/// shares ownership of this object.
class FailedRequest {
 public:
  struct Sizes {
    std::int64_t requested_bytes = 0;
    std::int64_t free_bytes = 0;
  };

  void set(std::int64_t device, std::int64_t requested_bytes, std::int64_t free_bytes) {
    const std::lock_guard lock(mutex_);
    if (device == device_) sizes_ = Sizes{requested_bytes, free_bytes};
  }
  void clear(std::int64_t device) {
    const std::lock_guard lock(mutex_);
    device_ = device;
    sizes_.reset();
  }
  std::optional<Sizes> get() const {
    const std::lock_guard lock(mutex_);
    return sizes_;
  }

 private:
  mutable std::mutex mutex_;  // any thread may run out of memory
  std::int64_t device_ = 0;
  std::optional<Sizes> sizes_;
};

/// Returns the first line of a LibTorch error, without the stack trace.
std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

class TorchCudaCollector final : public Collector {
 public:
  ~TorchCudaCollector() override { forget_events(); }

  std::string name() const override { return kName; }

  void arm(const PassSetting& setting) override {
    if (setting.device != measure::DeviceKind::kCuda || !setting.uses_torch)
      throw Unavailable("the workload does not use LibTorch on a GPU");
    device_ = static_cast<c10::DeviceIndex>(setting.device_index);
    run_start_ns_ = setting.run_start_ns;
    forget_events();
    armed_ = false;
    missing_events_.reset();
    readings_.clear();
    added_readings_ = 0;
    readings_.reserve(kReadingsReserved);
    readings_dropped_ = 0;
    spares_steps_ = setting.reading_share > 0 && setting.pass != measure::Pass::kMemory;
    interval_.restart(setting.reading_share);
    try {
      if (device_ < 0 || device_ >= c10::cuda::device_count_ensure_non_zero())
        throw Unavailable("LibTorch finds no GPU with this index");
      // The allocator has no state until LibTorch initializes CUDA lazily, which any GPU workload does. Initialize it
      // here through the same once-only path, so that peaks can be reset before the first allocation.
      at::globalContext().lazyInitDevice(c10::kCUDA);
      failed_->clear(device_);
      attach();
      allocator::resetPeakStats(device_);
      allocations_at_start_ = allocator::getDeviceStats(device_).num_device_alloc;
      records_events_ = setting.pass == measure::Pass::kMemory && setting.execution_context != nullptr;
      if (records_events_) record_events(setting);
    } catch (const c10::Error& error) {
      throw Unavailable(first_line(error));
    }
    armed_ = true;
  }

  void before_steps() override { read(kBeforeSteps); }
  void between_steps(std::int64_t step) override {
    // A reading copies all statistics of the allocator.
    if (!spares_steps_ || step < kFirstSteps) return read(step);
    const std::int64_t begin_ns = now_ns();
    if (!interval_.is_due(begin_ns)) return;
    read(step);
    interval_.taken(begin_ns, now_ns());
  }

  void add_new_events(event::NewEvents& events) override {
    append_new(events.memory_counters, readings_, added_readings_);
    if (records_events_) add_new_allocator_events(events);
  }

  void reset() override {
    if (!armed_) return;
    try {
      allocator::emptyCache();
      allocator::resetPeakStats(device_);
    } catch (const c10::Error&) {
      // Device error; the next arm() reports it.
    }
  }

  void disarm(event::PassRecord& record) override {
    if (!armed_) return;
    end_allocator_record(record, kName);
    if (missing_events_) record.dropped_records.push_back(*missing_events_);
    append_range(record.memory_counters, readings_);
    add_dropped(record.dropped_records, kName, readings_dropped_,
                "allocator readings beyond the limit of " + std::to_string(kMaxReadings) +
                    " per pass, or failed because of a device error");
    try {
      const event::MemoryState peak = allocator_state(allocator::getDeviceStats(device_)).peak;
      record.memory.allocated_bytes = peak.allocated_bytes;
      record.memory.reserved_bytes = peak.reserved_bytes;
      if (records_events_) record.memory_trace.cuda_peaks = peak;
    } catch (const c10::Error& error) {
      record.dropped_records.push_back({kName, -1, "no allocator statistics: " + first_line(error)});
    }
    if (!record.out_of_memory || record.out_of_memory->where != "device") return;
    record.out_of_memory->peak_bytes = record.memory.allocated_bytes;
    if (const auto sizes = failed_->get()) {
      record.out_of_memory->requested_bytes = sizes->requested_bytes;
      record.out_of_memory->free_bytes = sizes->free_bytes;
    }
  }

 private:
  /// The counters are the allocator's own bookkeeping: reading them does not access the device and takes microseconds.
  void read(std::int64_t step) {
    if (readings_.size() >= kMaxReadings) {
      ++readings_dropped_;
      return;
    }
    try {
      const std::int64_t time_ns = now_ns() - run_start_ns_;
      const auto stats = allocator::getDeviceStats(device_);
      readings_.push_back({step, time_ns, stats.allocated_bytes[kAllPools].current,
                           stats.reserved_bytes[kAllPools].current, stats.num_device_alloc - allocations_at_start_});
    } catch (const c10::Error&) {
      ++readings_dropped_;
    }
  }

  void record_events(const PassSetting& setting) {
    try {
      record_allocator(setting, device_);
    } catch (const c10::Error& error) {
      missing_events_ = event::DroppedRecords{kName, -1, "no memory events: " + first_line(error)};
    }
  }

  /// Discards the recorded events of a pass.
  void forget_events() {
    if (!armed_) return;
    event::PassRecord unwanted;
    end_allocator_record(unwanted, kName);
  }

  /// The allocator cannot detach an observer, so one is attached for the lifetime of the process. It only runs when a
  /// request fails.
  void attach() {
    if (attached_) return;
    // The second argument is the size that the allocator requested from the device, rounded up (to 2 MiB for large
    // requests).
    allocator::attachOutOfMemoryObserver(
        [slot = failed_](std::int64_t device, std::size_t block_bytes, std::size_t, std::size_t free_bytes) {
          slot->set(device, static_cast<std::int64_t>(block_bytes), static_cast<std::int64_t>(free_bytes));
        });
    attached_ = true;
  }

  std::shared_ptr<FailedRequest> failed_ = std::make_shared<FailedRequest>();
  c10::DeviceIndex device_ = 0;
  std::int64_t run_start_ns_ = 0;
  std::int64_t allocations_at_start_ = 0;
  std::vector<event::MemoryCounter> readings_;
  std::size_t added_readings_ = 0;  // by add_new_events()
  std::int64_t readings_dropped_ = 0;
  bool spares_steps_ = false;
  ReadingInterval interval_;
  std::optional<event::DroppedRecords> missing_events_;
  bool records_events_ = false;
  bool armed_ = false;
  bool attached_ = false;
};

std::unique_ptr<Collector> make_collector() { return std::make_unique<TorchCudaCollector>(); }

const Module kModule{KYMO_BUILD_ID, make_collector, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace kymo::collect

extern "C" __attribute__((visibility("default"))) const kymo::collect::Module* kymo_module() {
  return &kymo::collect::kModule;
}
