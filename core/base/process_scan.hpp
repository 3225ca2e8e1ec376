// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace kymo {

/// Calls visit(const char* pid) for each process in /proc. Async-signal-safe, so that a forked process without exec can
/// use it.
template <typename Visit>
void for_each_process(Visit visit) {
  alignas(dirent64) std::array<char, 1 << 13> entries;
  const int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (ssize_t size = 0; (size = getdents64(folder, entries.data(), entries.size())) > 0;) {
    for (ssize_t at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      if (std::atoi(entry->d_name) > 0) visit(static_cast<const char*>(entry->d_name));
    }
  }
  if (folder >= 0) close(folder);
}

}  // namespace kymo
