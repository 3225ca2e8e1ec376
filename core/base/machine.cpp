// SPDX-License-Identifier: Apache-2.0
#include "base/machine.hpp"

#include <charconv>
#include <fstream>

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

}  // namespace

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
