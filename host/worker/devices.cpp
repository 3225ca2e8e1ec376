// SPDX-License-Identifier: Apache-2.0
#include "worker/devices.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/json.hpp"
#include "base/machine.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "collect/module.hpp"
#include "worker/failure.hpp"
#include "worker/worker.hpp"

namespace kymo::worker {
namespace {

constexpr std::int64_t kKhzPerMhz = 1000;
constexpr std::size_t kUuidDigits = 32;

std::optional<std::int64_t> highest_clock_mhz() {
  std::ifstream stream("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  std::int64_t khz = 0;
  return stream >> khz ? std::optional<std::int64_t>(khz / kKhzPerMhz) : std::nullopt;
}

constexpr double kNsPerS = 1e9;
constexpr double kProbeDeadlineS = 60;  // initializing CUDA with several GPUs takes seconds

Json optional_json(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(nullptr); }

std::optional<std::int64_t> optional_from(const Json& json, const char* name) {
  const Json& value = json.at(name);
  return value.is_null() ? std::nullopt : std::optional<std::int64_t>(value.get<std::int64_t>());
}

Json to_json(const event::Device& device) {
  return {{"uuid", device.uuid},
          {"kind", device.kind},
          {"name", device.name},
          {"memory_bytes", device.memory_bytes},
          {"multiprocessors", optional_json(device.multiprocessors)},
          {"max_sm_clock_mhz", optional_json(device.max_sm_clock_mhz)},
          {"max_memory_clock_mhz", optional_json(device.max_memory_clock_mhz)},
          {"index", device.index}};
}

event::Device device_from(const Json& json) {
  event::Device device;
  device.uuid = json.at("uuid").get<std::string>();
  device.kind = json.at("kind").get<std::string>();
  device.name = json.at("name").get<std::string>();
  device.memory_bytes = json.at("memory_bytes").get<std::int64_t>();
  device.multiprocessors = optional_from(json, "multiprocessors");
  device.max_sm_clock_mhz = optional_from(json, "max_sm_clock_mhz");
  device.max_memory_clock_mhz = optional_from(json, "max_memory_clock_mhz");
  device.index = json.at("index").get<std::int64_t>();
  return device;
}

/// The GPUs visible to this process; loads CUDA.
Devices devices_in_this_process() {
  Devices devices;
  devices.cpu = cpu_device();
  try {
    const collect::Module& module =
        collect::load_device_module(collect::read_declarations(installation().modules), measure::DeviceKind::kCuda);
    if (module.driver_version) devices.driver_version = module.driver_version();
    devices.gpus = module.devices();
  } catch (const collect::Unavailable& reason) {
    devices.no_gpu_reason = first_line(reason.what());
  }
  return devices;
}

SpawnOptions probe_command() {
  SpawnOptions options;
  options.command = {own_executable().string(), "devices"};
  try {
    std::vector<std::string> folders;
    for (const auto& folder : find_torch().library_folders) folders.push_back(folder.string());
    if (const char* present = std::getenv("LD_LIBRARY_PATH"); present && *present) folders.emplace_back(present);
    options.environment.emplace_back("LD_LIBRARY_PATH", join(folders, ":"));
  } catch (const Error&) {
    // Without LibTorch the CUDA runtime may still be in a system folder; otherwise the child reports the error.
  }
  return options;
}

void read_answer(const Json& answer, Devices& devices) {
  for (const Json& gpu : answer.at("gpus")) devices.gpus.push_back(device_from(gpu));
  devices.no_gpu_reason = answer.at("no_gpu_reason").get<std::string>();
  devices.driver_version = answer.at("driver_version").get<std::string>();
}

}  // namespace

event::Device cpu_device() {
  utsname system{};
  uname(&system);
  const std::int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
  event::Device device;
  device.kind = "cpu";
  device.name = cpu_model();
  if (device.name.empty()) device.name = std::string(system.machine) + " CPU";
  device.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  device.multiprocessors = cores;
  device.max_sm_clock_mhz = highest_clock_mhz();
  device.uuid =
      "CPU-" +
      sha256(std::string(system.nodename) + "\n" + device.name + "\n" + std::to_string(cores)).substr(0, kUuidDigits);
  return device;
}

int print_devices() {
  const Devices devices = devices_in_this_process();
  Json gpus = Json::array();
  for (const auto& gpu : devices.gpus) gpus.push_back(to_json(gpu));
  const Json answer = {{"cpu", to_json(devices.cpu)},
                       {"gpus", gpus},
                       {"no_gpu_reason", devices.no_gpu_reason},
                       {"driver_version", devices.driver_version}};
  std::cout << dump_json(answer, 2) << std::endl;
  return static_cast<int>(ExitCode::kOk);
}

Devices request_devices(const SpawnOptions& command, double deadline_s) {
  Devices devices;
  devices.cpu = cpu_device();
  try {
    const CommandResult result = run_command(command, deadline_s);
    if (result.timed_out) {
      devices.no_gpu_reason = "the GPU probe did not finish within " + format_duration(deadline_s * kNsPerS);
    } else if (result.end.exit_code != 0) {
      devices.no_gpu_reason =
          "the GPU probe ended with " + result.end.describe() + ": " + first_line(result.stderr_text);
    } else {
      read_answer(parse_json(result.stdout_text, "the GPU probe"), devices);
    }
  } catch (const std::exception& error) {
    devices.gpus.clear();
    devices.no_gpu_reason = "the GPU probe failed: " + first_line(error.what());
  }
  return devices;
}

Devices probe_devices() { return request_devices(probe_command(), kProbeDeadlineS); }

}  // namespace kymo::worker
