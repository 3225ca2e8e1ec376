// SPDX-License-Identifier: Apache-2.0
#include "supervisor/host_memory.hpp"

#include <fstream>
#include <string>

namespace kymo::supervisor {
namespace {

/// The number that follows a name in a file of lines "name number ...".
std::optional<std::int64_t> named_number(const char* file, const std::string& name) {
  std::ifstream in(file);
  std::string word;
  while (in >> word) {
    std::int64_t number = 0;
    if (word == name && in >> number) return number;
    std::getline(in, word);
  }
  return std::nullopt;
}

}  // namespace

std::int64_t kernel_out_of_memory_kills() { return named_number("/proc/vmstat", "oom_kill").value_or(0); }

std::optional<std::int64_t> available_host_bytes() {
  const auto kibibytes = named_number("/proc/meminfo", "MemAvailable:");
  if (!kibibytes) return std::nullopt;
  return *kibibytes * 1024;
}

}  // namespace kymo::supervisor
