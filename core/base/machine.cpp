// SPDX-License-Identifier: Apache-2.0
#include "base/machine.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include "base/text.hpp"

namespace kymo {
namespace {

constexpr std::int64_t kBytesPerKib = 1024;

/// The number at the start of a line's value; a unit may follow.
std::optional<std::int64_t> number_of_line(const char* file, std::string_view key, char separator) {
  const std::string text = value_of_line(file, key, separator);
  std::int64_t number = 0;
  const bool read = std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
  return read ? std::optional(number) : std::nullopt;
}

/// The value of a line "key:   123 kB", in bytes.
std::optional<std::int64_t> bytes_of_line(const char* file, std::string_view key) {
  const auto kib = number_of_line(file, key, ':');
  return kib ? std::optional(*kib * kBytesPerKib) : std::nullopt;
}

/// The processors that this directory of a control group allows; infinity if it has no quota.
double processors_of_group(const std::filesystem::path& group) {
  double quota_us = 0, period_us = 0;  // "max" is not read as a number
  if (std::ifstream both(group / "cpu.max"); both >> quota_us >> period_us && period_us > 0)
    return quota_us / period_us;
  std::ifstream quota(group / "cpu.cfs_quota_us"), period(group / "cpu.cfs_period_us");
  if (quota >> quota_us && period >> period_us && quota_us > 0 && period_us > 0) return quota_us / period_us;
  return std::numeric_limits<double>::infinity();
}

/// The least quota of a control group and of those that contain it. The mount of a container contains only the part of
/// the hierarchy below some of them.
double processors_of_groups(const std::filesystem::path& mount, std::filesystem::path group) {
  double processors = processors_of_group(mount);
  for (group = group.relative_path(); !group.empty(); group = group.parent_path())
    processors = std::min(processors, processors_of_group(mount / group));
  return processors;
}

/// The number of processors that the control groups of this process allow, or infinity.
double processors_of_quota(const std::filesystem::path& root) {
  double processors = std::numeric_limits<double>::infinity();
  const std::filesystem::path mounts = root / "sys" / "fs" / "cgroup";
  std::ifstream groups(root / "proc" / "self" / "cgroup");
  for (std::string line; std::getline(groups, line);) {  // such as "0::/a/b" or "3:cpu,cpuacct:/a/b"
    const auto parts = split(line, ':');
    if (parts.size() < 3) continue;
    const std::filesystem::path group = line.substr(parts[0].size() + parts[1].size() + 2);
    if (parts[1].empty()) {
      processors =
          std::min({processors, processors_of_groups(mounts, group), processors_of_groups(mounts / "unified", group)});
    } else if (const auto controllers = split(parts[1], ',');
               std::ranges::find(controllers, "cpu") != controllers.end()) {
      processors = std::min(
          {processors, processors_of_groups(mounts / "cpu", group), processors_of_groups(mounts / parts[1], group)});
    }
  }
  return processors;
}

/// The size of the affinity mask.
int allowed_processors() {
  for (std::size_t possible = 1024; possible <= 1 << 20; possible *= 2) {
    cpu_set_t* const set = CPU_ALLOC(possible);
    const std::size_t size = CPU_ALLOC_SIZE(possible);
    const int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return 1;
}

}  // namespace

int available_processors(const std::filesystem::path& root) {
  const double least = std::min<double>(allowed_processors(), std::ceil(processors_of_quota(root)));
  return std::max(1, static_cast<int>(least));
}

std::string value_of_line(const char* file, std::string_view key, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t position = line.find(separator);
    if (position != std::string::npos && trim(line.substr(0, position)) == key) return trim(line.substr(position + 1));
  }
  return "";
}

std::string cpu_model() { return value_of_line("/proc/cpuinfo", "model name", ':'); }

std::optional<std::int64_t> available_host_bytes() { return bytes_of_line("/proc/meminfo", "MemAvailable"); }

std::int64_t kernel_out_of_memory_kills() { return number_of_line("/proc/vmstat", "oom_kill", ' ').value_or(0); }

std::optional<std::int64_t> peak_resident_bytes() { return bytes_of_line("/proc/self/status", "VmHWM"); }

bool reset_peak_resident() {
  std::ofstream stream("/proc/self/clear_refs");
  stream << "5" << std::flush;
  return stream.good();
}

}  // namespace kymo
