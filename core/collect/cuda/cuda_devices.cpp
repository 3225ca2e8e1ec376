// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/cuda_devices.hpp"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <memory>

#include "collect/collector.hpp"
#include "collect/cuda/cuda_error.hpp"
#include "collect/cuda/nvml.hpp"

namespace kymo::collect {
namespace {

constexpr std::int64_t kKhzPerMhz = 1000;

/// Formats a UUID like NVML and nvidia-smi: GPU- followed by 8-4-4-4-12 hexadecimal digits.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += digits;
  }
  return text;
}

std::optional<std::int64_t> clock_attribute_mhz(cudaDeviceAttr attribute, int index) {
  int khz = 0;
  if (cudaDeviceGetAttribute(&khz, attribute, index) != cudaSuccess) {
    cudaGetLastError();
    return std::nullopt;
  }
  return khz > 0 ? std::optional<std::int64_t>(khz / kKhzPerMhz) : std::nullopt;
}

std::unique_ptr<Nvml> open_nvml() {
  try {
    return std::make_unique<Nvml>();
  } catch (const Unavailable&) {
    return nullptr;
  }
}

int device_count() {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess)
    throw Unavailable(take_cuda_error(error));
  if (count == 0) throw Unavailable("CUDA finds no device");
  return count;
}

event::Device describe(int index, Nvml* nvml) {
  cudaDeviceProp properties{};
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, index); error != cudaSuccess) {
    throw Unavailable("CUDA device " + std::to_string(index) + ": " + take_cuda_error(error));
  }
  event::Device device;
  device.uuid = uuid_text(properties.uuid);
  device.kind = "cuda";
  device.name = properties.name;
  device.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  device.multiprocessors = properties.multiProcessorCount;
  device.multiprocessor_threads = properties.maxThreadsPerMultiProcessor;
  device.multiprocessor_blocks = properties.maxBlocksPerMultiProcessor;
  device.multiprocessor_registers = properties.regsPerMultiprocessor;
  device.multiprocessor_shared_bytes = static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor);
  device.reserved_shared_bytes = static_cast<std::int64_t>(properties.reservedSharedMemPerBlock);
  device.index = index;
  if (nvml) {
    try {
      nvml->select(device.uuid);
      device.max_sm_clock_mhz = nvml->max_sm_clock_mhz();
      device.max_memory_clock_mhz = nvml->max_memory_clock_mhz();
    } catch (const Unavailable&) {
      // NVML does not know the UUID of a MIG instance; its clocks come from CUDA below.
    }
  }
  if (!device.max_sm_clock_mhz) device.max_sm_clock_mhz = clock_attribute_mhz(cudaDevAttrClockRate, index);
  if (!device.max_memory_clock_mhz)
    device.max_memory_clock_mhz = clock_attribute_mhz(cudaDevAttrMemoryClockRate, index);
  return device;
}

}  // namespace

std::vector<event::Device> cuda_devices() {
  const int count = device_count();
  const std::unique_ptr<Nvml> nvml = open_nvml();
  std::vector<event::Device> devices;
  for (int index = 0; index < count; ++index) devices.push_back(describe(index, nvml.get()));
  return devices;
}

event::Device cuda_device(int index) {
  const int count = device_count();
  if (index < 0 || index >= count) {
    throw Unavailable("there is no CUDA device " + std::to_string(index) + ": this machine has " +
                      std::to_string(count));
  }
  const std::unique_ptr<Nvml> nvml = open_nvml();
  return describe(index, nvml.get());
}

std::string nvidia_driver_version() {
  const std::unique_ptr<Nvml> nvml = open_nvml();
  return nvml ? nvml->driver_version() : "";
}

}  // namespace kymo::collect
