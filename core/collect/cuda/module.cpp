// SPDX-License-Identifier: Apache-2.0
// kymo_cuda: GPU readings in every pass on a GPU, event timing where steps are timed on the device, which adds two
// event records per phase to the timed region, and CUPTI tracing in the passes that request it.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/ranges.hpp"
#include "collect/collector.hpp"
#include "collect/cuda/counter_session.hpp"
#include "collect/cuda/cuda_devices.hpp"
#include "collect/cuda/cuda_error.hpp"
#include "collect/cuda/cupti_session.hpp"
#include "collect/cuda/device_memory_sampler.hpp"
#include "collect/cuda/event_timer.hpp"
#include "collect/cuda/launch_watch.hpp"
#include "collect/cuda/nvml.hpp"
#include "collect/cuda/utilization_sampler.hpp"
#include "collect/reading_interval.hpp"

namespace kymo::collect {
namespace {

constexpr const char* kName = "kymo_cuda";
constexpr const char* kEventsOnly = "events only";

bool traces(const PassSetting& setting) {
  const bool wanted = setting.pass == measure::Pass::kTrace || setting.pass == measure::Pass::kOps;
  return wanted && setting.device == measure::DeviceKind::kCuda;
}

CUcontext current_context() {
  // Nothing here links libcuda, because the module must load on a machine without a driver.
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  const auto current =
      driver ? reinterpret_cast<decltype(&cuCtxGetCurrent)>(dlsym(driver, "cuCtxGetCurrent")) : nullptr;
  CUcontext context = nullptr;
  if (!current || current(&context) != CUDA_SUCCESS || !context)
    throw Unavailable("the driver reports no CUDA context of this thread");
  return context;
}

std::optional<std::int64_t> free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) return static_cast<std::int64_t>(free);
  cudaGetLastError();
  return std::nullopt;
}

// NVTX ranges of phases and scopes, for tools such as Nsight Systems and Nsight Compute.

/// Returns true if a tool has set an injection path in the environment of this process.
bool nvtx_is_wanted() {
  for (const char* name : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"}) {
    const char* value = std::getenv(name);
    if (value && *value) return true;
  }
  return false;
}

/// Event timing and GPU readings in every pass; GPU memory in passes that record events; and all GPU activity in the
/// trace and ops passes.
class CudaCollector final : public Collector {
 public:
  std::string name() const override { return kName; }
  void arm(const PassSetting& setting) override;
  void before_steps() override;
  void step_begin(std::int64_t step) override;
  void phase_begin(std::size_t phase, void* stream) override;
  void phase_end() override;
  bool wants_scopes() const override { return nvtx_ || (counters_ && counters_->wants_scopes()); }
  void scope_begin(const char* name) override;
  void scope_end() override;
  void between_steps(std::int64_t step) override;
  void add_new_events(event::NewEvents& events) override;
  void reset() override;
  void disarm(event::PassRecord& record) override;

  EventTimer& timer() { return timer_; }

 private:
  void start_tracing();
  void start_counting();
  void start_on_device();
  void open_nvml();
  void report_no_nvml(const Unavailable& reason);
  void select_on_nvml(const std::string& uuid);
  void start_memory(const std::string& uuid, const std::vector<Nvml::Use>& before_cuda, std::int64_t before_cuda_ns);
  void note_memory(const char* moment, std::int64_t step);
  void start_utilization();

  PassSetting setting_;
  EventTimer timer_;
  std::unique_ptr<Nvml> nvml_;
  std::unique_ptr<CuptiSession> session_;
  std::unique_ptr<CounterSession> counters_;
  std::unique_ptr<LaunchWatch> launches_;  // calls counters_, so it is destroyed first
  // These use nvml_, so they are destroyed first.
  std::unique_ptr<DeviceMemorySampler> memory_;
  std::unique_ptr<UtilizationSampler> utilization_;
  std::vector<event::GpuSample> readings_;
  std::size_t added_readings_ = 0;  // by add_new_events()
  std::vector<event::DroppedRecords> dropped_records_;
  // A reading takes up to a few milliseconds, during which the GPU idles. After every step of a short workload it would
  // leave the GPU idle most of the time and lower the clocks that it measures, while NVML updates its values only about
  // ten times per second. The interval is the same in all passes, because the step after a reading runs with different
  // CPU cache contents, which must not count as tracing overhead.
  ReadingInterval interval_;
  void* stream_ = nullptr;  // of the open phase
  bool events_only_ = false;
  bool nvtx_ = false;
};

void CudaCollector::reset() {
  timer_.end_cold();
  memory_.reset();
  utilization_.reset();
  session_.reset();
  launches_.reset();
  counters_.reset();
  readings_.clear();
  added_readings_ = 0;
  dropped_records_.clear();
  events_only_ = false;
  nvtx_ = false;
}

void CudaCollector::arm(const PassSetting& setting) {
  reset();
  setting_ = setting;
  interval_.restart(setting.reading_share);
  nvtx_ = nvtx_is_wanted();
  open_nvml();
  std::vector<Nvml::Use> before_cuda;
  if (records_events(setting.pass) && nvml_) before_cuda = nvml_->use_of_all();
  const std::int64_t before_cuda_ns = now_ns() - setting.run_start_ns;
  // CUPTI must be initialized before CUDA; nothing has called CUDA so far.
  if (traces(setting)) start_tracing();
  try {
    const event::Device device = cuda_device(setting.device_index);
    start_on_device();
    if (session_) session_->context_made();
    select_on_nvml(device.uuid);
    if (records_events(setting.pass)) start_memory(device.uuid, before_cuda, before_cuda_ns);
    if (records_events(setting.pass)) start_utilization();
    if (setting.pass == measure::Pass::kCounters) start_counting();
  } catch (const std::runtime_error& error) {
    reset();
    throw Unavailable(error.what());
  }
}

void CudaCollector::start_tracing() {
  try {
    auto session = std::make_unique<CuptiSession>(setting_.observation, setting_.execution_context,
                                                  setting_.run_start_ns, setting_.adds_new_events);
    session->start();
    session_ = std::move(session);
  } catch (const Unavailable& reason) {
    events_only_ = true;
    dropped_records_.push_back({kName, -1, std::string("kernels and copies are not recorded: ") + reason.what()});
  }
}

/// Without counters the pass goes on, so that its other records are complete.
void CudaCollector::start_counting() {
  try {
    require_profiler_libraries();
    CounterSession::Setting setting{.device_index = setting_.device_index,
                                    .context = current_context(),
                                    .ranges = setting_.counter_ranges,
                                    .warmup = setting_.warmup};
    if (nvml_)
      setting.read_clocks = [this] {
        event::GpuSample reading;
        nvml_->read(reading);
        return reading;
      };
    auto counters = std::make_unique<CounterSession>(ProfilerApi(), std::move(setting));
    if (setting_.counter_ranges == measure::CounterRanges::kKernel)
      launches_ = std::make_unique<LaunchWatch>(LaunchWatch::Calls{
          .kernel = [session = counters.get()](const char* symbol) { session->kernel_launched(symbol); },
          .graph = [session = counters.get()] { session->graph_launched(); }});
    counters_ = std::move(counters);
  } catch (const Unavailable& reason) {
    dropped_records_.push_back({kName, -1, std::string("no hardware counters: ") + reason.what()});
  }
}

void CudaCollector::start_on_device() {
  check_cuda(cudaSetDevice(setting_.device_index), "setting the device");
  if (observes(setting_.pass)) check_cuda(cudaFree(nullptr), "creating the context");
  if (setting_.times_steps) timer_.prepare();
}

void CudaCollector::open_nvml() {
  try {
    if (!nvml_) nvml_ = std::make_unique<Nvml>();
  } catch (const Unavailable& reason) {
    report_no_nvml(reason);
  }
}

void CudaCollector::report_no_nvml(const Unavailable& reason) {
  dropped_records_.push_back(
      {kName, -1, std::string("no GPU clocks, power, temperature and used memory: ") + reason.what()});
}

void CudaCollector::select_on_nvml(const std::string& uuid) {
  if (!nvml_) return;
  try {
    nvml_->select(uuid);
  } catch (const Unavailable& reason) {
    nvml_.reset();
    report_no_nvml(reason);
  }
}

void CudaCollector::start_memory(const std::string& uuid, const std::vector<Nvml::Use>& before_cuda,
                                 std::int64_t before_cuda_ns) {
  if (!nvml_) return;
  const auto read = [this](bool with_process) -> std::optional<DeviceMemorySampler::Reading> {
    const std::optional<std::int64_t> used = nvml_->used_bytes();
    if (!used) return std::nullopt;
    return DeviceMemorySampler::Reading{*used, with_process ? nvml_->process_bytes() : std::nullopt};
  };
  DeviceMemorySampler::Setting setting;
  setting.execution_context = setting_.execution_context;
  setting.run_start_ns = setting_.run_start_ns;
  memory_ = std::make_unique<DeviceMemorySampler>(read, setting);
  for (const Nvml::Use& use : before_cuda) {
    if (use.uuid == uuid) memory_->add({before_cuda_ns, "before cuda", -1, use.used_bytes, std::nullopt});
  }
  note_memory("context created", -1);
  if (setting_.pass != measure::Pass::kMemory) return;
  try {
    memory_->start_background();
  } catch (const std::system_error& error) {
    dropped_records_.push_back({kName, -1, std::string("no GPU memory readings within steps: ") + error.what()});
  }
}

/// Querying the memory of this process is slow. In the tracing passes, doing it after every step would leave the GPU
/// idle.
void CudaCollector::note_memory(const char* moment, std::int64_t step) {
  if (!memory_) return;
  memory_->note(moment, static_cast<std::int32_t>(step), step < 0 || setting_.pass == measure::Pass::kMemory);
}

void CudaCollector::start_utilization() {
  if (!nvml_ || !nvml_->reports_utilization()) return;
  utilization_ =
      std::make_unique<UtilizationSampler>([this] { return nvml_->utilization_since_last(); },
                                           UtilizationSampler::Setting{.run_start_ns = setting_.run_start_ns});
  try {
    utilization_->start();
  } catch (const std::system_error& error) {
    dropped_records_.push_back({kName, -1, std::string("no GPU utilization: ") + error.what()});
  }
}

void CudaCollector::before_steps() { note_memory("prepared", -1); }

void CudaCollector::step_begin(std::int64_t step) {
  if (counters_) counters_->step_begin(step);
  if (setting_.times_steps) timer_.begin_step();
}

void CudaCollector::phase_begin(std::size_t phase, void* stream) {
  if (nvtx_) nvtxRangePushA(phase < setting_.phases.size() ? setting_.phases[phase].c_str() : "phase");
  stream_ = stream;
  if (counters_) counters_->phase_begin(static_cast<std::int32_t>(phase), timer_.is_capturing(stream));
  if (setting_.times_steps) timer_.begin_phase(phase, stream);
}

void CudaCollector::phase_end() {
  if (setting_.times_steps) timer_.end_phase();
  if (counters_) counters_->phase_end(timer_.is_capturing(stream_));
  if (nvtx_) nvtxRangePop();
}

void CudaCollector::scope_begin(const char* name) {
  if (nvtx_) nvtxRangePushA(name);
  if (counters_) counters_->scope_begin(name);
}

void CudaCollector::scope_end() {
  if (counters_) counters_->scope_end();
  if (nvtx_) nvtxRangePop();
}

void CudaCollector::between_steps(std::int64_t step) {
  if (session_) session_->warm();
  if (counters_) counters_->step_end();
  const std::int64_t now = now_ns();
  const bool due = interval_.is_due(now);
  if (due || setting_.pass == measure::Pass::kMemory) note_memory("after step", step);
  if (!nvml_ || !due) return;
  event::GpuSample reading;
  reading.step = step;
  reading.time_ns = now - setting_.run_start_ns;
  nvml_->read(reading);
  readings_.push_back(reading);
  interval_.taken(now, now_ns());
}

void CudaCollector::add_new_events(event::NewEvents& events) {
  if (session_) session_->add_new(events);
  if (memory_) memory_->add_new(events.device_memory);
  if (utilization_) utilization_->add_new(events.gpu_utilization);
  append_new(events.gpu_samples, readings_, added_readings_);
}

void CudaCollector::disarm(event::PassRecord& record) {
  if (memory_) {
    memory_->stop_background();
    note_memory("end", -1);
    memory_->take(record);
  }
  if (utilization_) {
    utilization_->stop();
    utilization_->take(record);
  }
  if (session_) session_->stop(record);
  launches_.reset();
  if (counters_) counters_->stop(record);
  counters_.reset();  // frees the counters for other processes
  if (events_only_) record.trace_status = kEventsOnly;
  append_range(record.gpu_samples, readings_);
  append_range(record.dropped_records, dropped_records_);
  add_dropped(record.dropped_records, kName, timer_.untimed(),
              "phase entries without device time: " + timer_.last_reason());
  if (record.out_of_memory && record.out_of_memory->where == "device" && !record.out_of_memory->free_bytes) {
    record.out_of_memory->free_bytes = free_bytes();
  }
}

std::unique_ptr<Collector> make_collector() { return std::make_unique<CudaCollector>(); }
DeviceTimer* timer_of(Collector& collector) { return &static_cast<CudaCollector&>(collector).timer(); }

const Module kModule{KYMO_BUILD_ID, make_collector, timer_of, cuda_devices, nvidia_driver_version};

}  // namespace
}  // namespace kymo::collect

extern "C" __attribute__((visibility("default"))) const kymo::collect::Module* kymo_module() {
  return &kymo::collect::kModule;
}
