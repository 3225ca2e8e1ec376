// SPDX-License-Identifier: Apache-2.0
#include "worker/process_memory.hpp"

#include <fstream>
#include <string>
#include <string_view>

namespace kymo::worker {
namespace {

constexpr std::int64_t kBytesPerKib = 1024;

/// The value of a line "name:   123 kB" of a file in /proc, in bytes.
std::optional<std::int64_t> line_bytes(const char* file, std::string_view name) {
  std::ifstream stream(file);
  std::string word;
  while (stream >> word) {
    std::int64_t kib = 0;
    if (word == name && stream >> kib) return kib * kBytesPerKib;
    std::getline(stream, word);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> peak_resident_bytes() { return line_bytes("/proc/self/status", "VmHWM:"); }

bool reset_peak_resident() {
  std::ofstream stream("/proc/self/clear_refs");
  stream << "5" << std::flush;
  return stream.good();
}

std::optional<std::int64_t> available_host_bytes() { return line_bytes("/proc/meminfo", "MemAvailable:"); }

}  // namespace kymo::worker
