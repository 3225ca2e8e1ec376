// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/nvml.hpp"

#include <dlfcn.h>
#include <nvml.h>

#include <array>

#include "collect/collector.hpp"

namespace kymo::collect {

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
  decltype(&nvmlDeviceGetTemperature) temperature = nullptr;
  decltype(&nvmlDeviceGetCurrentClocksEventReasons) reasons = nullptr;
  nvmlDevice_t device = nullptr;

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
    // The name before driver 535.
    if (!reasons) find(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (!init || !shutdown || !error_string || !by_uuid) throw Unavailable("no NVML: libnvidia-ml.so.1 lacks basic functions");
  }

  std::optional<std::int64_t> clock_mhz(decltype(&nvmlDeviceGetClockInfo) function, nvmlClockType_t type) const {
    unsigned int mhz = 0;
    if (!function || !device || function(device, type, &mhz) != NVML_SUCCESS) return std::nullopt;
    return mhz;
  }
};

Nvml::Nvml() : functions_(std::make_unique<Functions>()) {
  functions_->load();
  if (const nvmlReturn_t error = functions_->init(); error != NVML_SUCCESS) {
    throw Unavailable(std::string("NVML does not start: ") + functions_->error_string(error));
  }
}

Nvml::~Nvml() { functions_->shutdown(); }

std::string Nvml::driver_version() const {
  std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> text{};
  if (!functions_->driver_version || functions_->driver_version(text.data(), text.size()) != NVML_SUCCESS) return "";
  return text.data();
}

void Nvml::select(const std::string& uuid) {
  if (const nvmlReturn_t error = functions_->by_uuid(uuid.c_str(), &functions_->device); error != NVML_SUCCESS) {
    functions_->device = nullptr;
    throw Unavailable("NVML does not know the GPU " + uuid + ": " + functions_->error_string(error));
  }
}

void Nvml::read(event::GpuSample& sample) const {
  const Functions& f = *functions_;
  if (!f.device) return;
  sample.sm_clock_mhz = f.clock_mhz(f.clock, NVML_CLOCK_SM);
  sample.memory_clock_mhz = f.clock_mhz(f.clock, NVML_CLOCK_MEM);
  unsigned int value = 0;
  if (f.power && f.power(f.device, &value) == NVML_SUCCESS) sample.power_mw = value;
  if (f.temperature && f.temperature(f.device, NVML_TEMPERATURE_GPU, &value) == NVML_SUCCESS) sample.temperature_c = value;
  unsigned long long reasons = 0;
  if (f.reasons && f.reasons(f.device, &reasons) == NVML_SUCCESS) sample.throttle_reasons = static_cast<std::int64_t>(reasons);
}

std::optional<std::int64_t> Nvml::max_sm_clock_mhz() const { return functions_->clock_mhz(functions_->max_clock, NVML_CLOCK_SM); }
std::optional<std::int64_t> Nvml::max_memory_clock_mhz() const { return functions_->clock_mhz(functions_->max_clock, NVML_CLOCK_MEM); }

}  // namespace kymo::collect
