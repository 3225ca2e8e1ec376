// SPDX-License-Identifier: Apache-2.0
#include "worker/cpu_device.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>

#include "base/file.hpp"
#include "base/machine.hpp"

namespace kymo::worker {
namespace {

constexpr std::int64_t kKhzPerMhz = 1000;
constexpr std::size_t kUuidDigits = 32;

std::optional<std::int64_t> highest_clock_mhz() {
  std::ifstream stream("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  std::int64_t khz = 0;
  return stream >> khz ? std::optional<std::int64_t>(khz / kKhzPerMhz) : std::nullopt;
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

}  // namespace kymo::worker
