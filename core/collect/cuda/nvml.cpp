// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/nvml.hpp"

#include <dlfcn.h>
#include <nvml.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "collect/collector.hpp"

namespace kymo::collect {
namespace {

constexpr std::size_t kProcesses = 32;
constexpr double kPercent = 0.01;
constexpr double kMiB = 1024.0 * 1024.0;
constexpr unsigned long long kNotAvailable = static_cast<unsigned long long>(NVML_VALUE_NOT_AVAILABLE);

/// A metric of GPM and the unit that it is in.
struct GpmMetric {
  nvmlGpmMetricId_t id;
  std::optional<double> event::GpuUtilization::* value;
  double unit;
};
constexpr std::array kGpmMetrics{
    GpmMetric{NVML_GPM_METRIC_GRAPHICS_UTIL, &event::GpuUtilization::kernel_time, kPercent},
    GpmMetric{NVML_GPM_METRIC_SM_UTIL, &event::GpuUtilization::sm_utilization, kPercent},
    GpmMetric{NVML_GPM_METRIC_SM_OCCUPANCY, &event::GpuUtilization::sm_occupancy, kPercent},
    GpmMetric{NVML_GPM_METRIC_ANY_TENSOR_UTIL, &event::GpuUtilization::tensor_utilization, kPercent},
    GpmMetric{NVML_GPM_METRIC_DRAM_BW_UTIL, &event::GpuUtilization::dram_utilization, kPercent},
    GpmMetric{NVML_GPM_METRIC_PCIE_TX_PER_SEC, &event::GpuUtilization::pcie_sent_bytes_per_s, kMiB},
    GpmMetric{NVML_GPM_METRIC_PCIE_RX_PER_SEC, &event::GpuUtilization::pcie_received_bytes_per_s, kMiB},
    GpmMetric{NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC, &event::GpuUtilization::nvlink_sent_bytes_per_s, kMiB},
    GpmMetric{NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC, &event::GpuUtilization::nvlink_received_bytes_per_s, kMiB},
};

}  // namespace

struct Nvml::Functions {
  void* library = nullptr;
  decltype(&nvmlInit_v2) init = nullptr;
  decltype(&nvmlShutdown) shutdown = nullptr;
  decltype(&nvmlErrorString) error_string = nullptr;
  decltype(&nvmlSystemGetDriverVersion) driver_version = nullptr;
  decltype(&nvmlDeviceGetHandleByUUID) by_uuid = nullptr;
  decltype(&nvmlDeviceGetClockInfo) clock = nullptr;
  decltype(&nvmlDeviceGetMaxClockInfo) max_clock = nullptr;
  decltype(&nvmlDeviceGetPowerUsage) power = nullptr;
  // Spelled out, because the headers of CUDA 13.2 deprecate the function. Its successor is missing from older drivers.
  nvmlReturn_t (*temperature)(nvmlDevice_t, nvmlTemperatureSensors_t, unsigned int*) = nullptr;
  decltype(&nvmlDeviceGetCurrentClocksEventReasons) reasons = nullptr;
  decltype(&nvmlDeviceGetCount_v2) count = nullptr;
  decltype(&nvmlDeviceGetHandleByIndex_v2) by_index = nullptr;
  decltype(&nvmlDeviceGetUUID) uuid = nullptr;
  decltype(&nvmlDeviceGetMemoryInfo) memory = nullptr;
  decltype(&nvmlDeviceGetComputeRunningProcesses_v3) processes = nullptr;
  decltype(&nvmlDeviceGetUtilizationRates) utilization_rates = nullptr;
  decltype(&nvmlGpmQueryDeviceSupport) gpm_support = nullptr;
  decltype(&nvmlGpmSampleAlloc) gpm_alloc = nullptr;
  decltype(&nvmlGpmSampleFree) gpm_free = nullptr;
  decltype(&nvmlGpmSampleGet) gpm_sample = nullptr;
  decltype(&nvmlGpmMetricsGet) gpm_metrics = nullptr;
  nvmlDevice_t device = nullptr;
  // If the device supports GPM, else nullptr:
  nvmlGpmSample_t last_sample = nullptr;
  nvmlGpmSample_t new_sample = nullptr;
  bool has_last_sample = false;

  ~Functions() {
    if (library) dlclose(library);
  }

  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
  }

  void load() {
    library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) throw Unavailable(std::string("no NVML: ") + dlerror());
    find(init, "nvmlInit_v2");
    find(shutdown, "nvmlShutdown");
    find(error_string, "nvmlErrorString");
    find(driver_version, "nvmlSystemGetDriverVersion");
    find(by_uuid, "nvmlDeviceGetHandleByUUID");
    find(clock, "nvmlDeviceGetClockInfo");
    find(max_clock, "nvmlDeviceGetMaxClockInfo");
    find(power, "nvmlDeviceGetPowerUsage");
    find(temperature, "nvmlDeviceGetTemperature");
    find(reasons, "nvmlDeviceGetCurrentClocksEventReasons");
    find(count, "nvmlDeviceGetCount_v2");
    find(by_index, "nvmlDeviceGetHandleByIndex_v2");
    find(uuid, "nvmlDeviceGetUUID");
    find(memory, "nvmlDeviceGetMemoryInfo");
    find(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    find(utilization_rates, "nvmlDeviceGetUtilizationRates");
    find(gpm_support, "nvmlGpmQueryDeviceSupport");
    find(gpm_alloc, "nvmlGpmSampleAlloc");
    find(gpm_free, "nvmlGpmSampleFree");
    find(gpm_sample, "nvmlGpmSampleGet");
    find(gpm_metrics, "nvmlGpmMetricsGet");
    // Name of the function before driver 535.
    if (!reasons) find(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (!init || !shutdown || !error_string || !by_uuid)
      throw Unavailable("no NVML: libnvidia-ml.so.1 does not provide the required functions");
  }

  std::optional<std::int64_t> clock_mhz(decltype(&nvmlDeviceGetClockInfo) function, nvmlClockType_t type) const {
    unsigned int mhz = 0;
    if (!function || !device || function(device, type, &mhz) != NVML_SUCCESS) return std::nullopt;
    return mhz;
  }

  /// Allocates the samples if the selected device supports GPM.
  void prepare_gpm() {
    free_samples();
    nvmlGpmSupport_t support{.version = NVML_GPM_SUPPORT_VERSION, .isSupportedDevice = 0};
    if (!gpm_support || !gpm_alloc || !gpm_free || !gpm_sample || !gpm_metrics ||
        gpm_support(device, &support) != NVML_SUCCESS || support.isSupportedDevice == 0)
      return;
    if (gpm_alloc(&last_sample) != NVML_SUCCESS) last_sample = nullptr;
    if (!last_sample || gpm_alloc(&new_sample) != NVML_SUCCESS) new_sample = nullptr;
    if (!new_sample) free_samples();
  }

  void free_samples() {
    for (nvmlGpmSample_t* sample : {&last_sample, &new_sample}) {
      if (*sample) gpm_free(*sample);
      *sample = nullptr;
    }
    has_last_sample = false;
  }

  std::optional<event::GpuUtilization> gpm_utilization() {
    event::GpuUtilization utilization;
    if (gpm_sample(device, new_sample) != NVML_SUCCESS) {
      has_last_sample = false;
      return std::nullopt;
    }
    std::swap(last_sample, new_sample);
    if (!std::exchange(has_last_sample, true)) return utilization;
    nvmlGpmMetricsGet_t request{};
    request.version = NVML_GPM_METRICS_GET_VERSION;
    request.numMetrics = kGpmMetrics.size();
    request.sample1 = new_sample;  // the older one now
    request.sample2 = last_sample;
    for (std::size_t i = 0; i < kGpmMetrics.size(); ++i) request.metrics[i].metricId = kGpmMetrics[i].id;
    if (gpm_metrics(&request) != NVML_SUCCESS) return std::nullopt;
    for (std::size_t i = 0; i < kGpmMetrics.size(); ++i)
      if (request.metrics[i].nvmlReturn == NVML_SUCCESS)
        utilization.*(kGpmMetrics[i].value) = request.metrics[i].value * kGpmMetrics[i].unit;
    return utilization;
  }

  std::optional<std::int64_t> used_bytes(nvmlDevice_t of) const {
    nvmlMemory_t state{};
    if (!memory || !of || memory(of, &state) != NVML_SUCCESS) return std::nullopt;
    return static_cast<std::int64_t>(state.used);
  }
};

Nvml::Nvml() : functions_(std::make_unique<Functions>()) {
  functions_->load();
  if (const nvmlReturn_t error = functions_->init(); error != NVML_SUCCESS) {
    throw Unavailable(std::string("NVML initialization failed: ") + functions_->error_string(error));
  }
}

Nvml::~Nvml() {
  functions_->free_samples();
  functions_->shutdown();
}

std::string Nvml::driver_version() const {
  std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> text{};
  if (!functions_->driver_version || functions_->driver_version(text.data(), text.size()) != NVML_SUCCESS) return "";
  return text.data();
}

void Nvml::select(const std::string& uuid) {
  if (const nvmlReturn_t error = functions_->by_uuid(uuid.c_str(), &functions_->device); error != NVML_SUCCESS) {
    functions_->device = nullptr;
    throw Unavailable("NVML does not find the GPU " + uuid + ": " + functions_->error_string(error));
  }
  functions_->prepare_gpm();
}

void Nvml::read(event::GpuSample& sample) const {
  const Functions& f = *functions_;
  if (!f.device) return;
  sample.sm_clock_mhz = f.clock_mhz(f.clock, NVML_CLOCK_SM);
  sample.memory_clock_mhz = f.clock_mhz(f.clock, NVML_CLOCK_MEM);
  unsigned int value = 0;
  if (f.power && f.power(f.device, &value) == NVML_SUCCESS) sample.power_mw = value;
  if (f.temperature && f.temperature(f.device, NVML_TEMPERATURE_GPU, &value) == NVML_SUCCESS)
    sample.temperature_c = value;
  unsigned long long reasons = 0;
  if (f.reasons && f.reasons(f.device, &reasons) == NVML_SUCCESS)
    sample.throttle_reasons = static_cast<std::int64_t>(reasons);
}

std::optional<std::int64_t> Nvml::used_bytes() const { return functions_->used_bytes(functions_->device); }

std::vector<Nvml::Use> Nvml::use_of_all() const {
  const Functions& f = *functions_;
  std::vector<Use> all;
  unsigned int count = 0;
  if (!f.count || !f.by_index || !f.uuid || f.count(&count) != NVML_SUCCESS) return all;
  for (unsigned int i = 0; i < count; ++i) {
    nvmlDevice_t device = nullptr;
    std::array<char, NVML_DEVICE_UUID_V2_BUFFER_SIZE> uuid{};
    if (f.by_index(i, &device) != NVML_SUCCESS || f.uuid(device, uuid.data(), uuid.size()) != NVML_SUCCESS) continue;
    if (const auto used = f.used_bytes(device)) all.push_back({uuid.data(), *used});
  }
  return all;
}

std::optional<std::int64_t> Nvml::process_bytes() const {
  const Functions& f = *functions_;
  if (!f.processes || !f.device) return std::nullopt;
  std::vector<nvmlProcessInfo_t> processes(kProcesses);
  auto count = static_cast<unsigned int>(processes.size());
  nvmlReturn_t result = f.processes(f.device, &count, processes.data());
  if (result == NVML_ERROR_INSUFFICIENT_SIZE) {
    processes.resize(count + kProcesses);
    count = static_cast<unsigned int>(processes.size());
    result = f.processes(f.device, &count, processes.data());
  }
  if (result != NVML_SUCCESS) return std::nullopt;
  const auto own = static_cast<unsigned int>(getpid());
  for (unsigned int i = 0; i < count; ++i) {
    if (processes[i].pid != own || processes[i].usedGpuMemory == kNotAvailable) continue;
    return static_cast<std::int64_t>(processes[i].usedGpuMemory);
  }
  return std::nullopt;
}

bool Nvml::reports_utilization() const {
  nvmlUtilization_t rates{};
  const Functions& f = *functions_;
  return f.device && (f.new_sample || (f.utilization_rates && f.utilization_rates(f.device, &rates) == NVML_SUCCESS));
}

std::optional<event::GpuUtilization> Nvml::utilization_since_last() {
  Functions& f = *functions_;
  if (f.new_sample) return f.gpm_utilization();
  nvmlUtilization_t rates{};
  if (!f.device || !f.utilization_rates || f.utilization_rates(f.device, &rates) != NVML_SUCCESS) return std::nullopt;
  event::GpuUtilization utilization;
  utilization.kernel_time = rates.gpu * kPercent;
  return utilization;
}

std::optional<std::int64_t> Nvml::max_sm_clock_mhz() const {
  return functions_->clock_mhz(functions_->max_clock, NVML_CLOCK_SM);
}
std::optional<std::int64_t> Nvml::max_memory_clock_mhz() const {
  return functions_->clock_mhz(functions_->max_clock, NVML_CLOCK_MEM);
}

}  // namespace kymo::collect
