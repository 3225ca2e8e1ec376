// SPDX-License-Identifier: Apache-2.0
#include "cli/programs.hpp"

#include <unistd.h>

#include <cstdlib>

#include "base/text.hpp"

namespace kymo::cli {
namespace {

bool is_program(const std::filesystem::path& file) {
  std::error_code ignored;  // an unreadable file cannot be executed
  return std::filesystem::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<std::filesystem::path> find_program(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos)
    return is_program(name) ? std::optional(std::filesystem::absolute(name)) : std::nullopt;
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    if (folder.empty()) continue;
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    if (is_program(file)) return file;
  }
  return std::nullopt;
}

}  // namespace kymo::cli
