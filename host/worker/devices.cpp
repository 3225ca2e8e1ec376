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
#include "base/units.hpp"
#include "collect/module.hpp"
#include "measure/json_field.hpp"
#include "worker/failure.hpp"

namespace kymo::worker {
namespace {

constexpr std::int64_t kKhzPerMhz = 1000;
constexpr std::size_t kUuidDigits = 32;

std::optional<std::int64_t> highest_clock_mhz() {
  std::ifstream stream("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  std::int64_t khz = 0;
  return stream >> khz ? std::optional<std::int64_t>(khz / kKhzPerMhz) : std::nullopt;
}

constexpr double kProbeDeadlineS = 60;  // initializing CUDA with several GPUs takes seconds

/// What the probe reports in addition to the CPU.
auto fields_of(auto& devices) {
  return std::forward_as_tuple("gpus", devices.gpus, "no_gpu_reason", devices.no_gpu_reason, "driver_version",
                               devices.driver_version, "counter_problems", devices.counter_problems);
}

/// Counts an empty step. Returns why that is impossible, or an empty text.
std::string counter_problem(const collect::Module& module, int gpu) {
  collect::PassSetting setting;
  setting.pass = measure::Pass::kCounters;
  setting.device = measure::DeviceKind::kCuda;
  setting.device_index = gpu;
  setting.times_steps = false;
  event::PassRecord record;
  try {
    const auto collector = module.make();
    collector->arm(setting);
    collector->before_steps();
    collector->step_begin(0);
    collector->between_steps(0);
    collector->disarm(record);
  } catch (const std::exception& error) {
    return error.what();
  }
  if (!record.hardware_counts.empty()) return "";
  return record.dropped_records.empty() ? "CUPTI counts nothing" : record.dropped_records.back().detail;
}

/// The GPUs visible to this process; loads CUDA.
Devices devices_in_this_process(bool counts) {
  Devices devices;
  devices.cpu = cpu_device();
  try {
    const collect::Module& module =
        collect::load_device_module(collect::read_declarations(installation().modules), measure::DeviceKind::kCuda);
    if (module.driver_version) devices.driver_version = module.driver_version();
    devices.gpus = module.devices();
    for (std::size_t gpu = 0; counts && gpu < devices.gpus.size(); ++gpu)
      devices.counter_problems.push_back(counter_problem(module, static_cast<int>(gpu)));
  } catch (const collect::Unavailable& reason) {
    devices.no_gpu_reason = first_line(reason.what());
  }
  return devices;
}

SpawnOptions probe_command(bool counts) {
  SpawnOptions options;
  options.command = {own_executable().string(), "devices"};
  if (counts) options.command.emplace_back("--counters");
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

int print_devices(bool counts) {
  const Devices devices = devices_in_this_process(counts);
  Json answer{{"cpu", devices.cpu}};
  measure::write_fields(answer, fields_of(devices));
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
      measure::read_fields(parse_json(result.stdout_text, "the GPU probe"), fields_of(devices));
    }
  } catch (const std::exception& error) {
    devices.gpus.clear();
    devices.no_gpu_reason = "the GPU probe failed: " + first_line(error.what());
  }
  return devices;
}

Devices probe_devices(bool counts) { return request_devices(probe_command(counts), kProbeDeadlineS); }

}  // namespace kymo::worker
