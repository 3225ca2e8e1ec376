// SPDX-License-Identifier: Apache-2.0
#include "worker/freed_memory.hpp"

#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string_view>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace kymo::worker {
namespace {

bool user_sets_allocator_up() {
  for (const char* variable : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"})
    if (std::getenv(variable)) return true;
  const char* tunables = std::getenv("GLIBC_TUNABLES");
  return tunables && std::string_view(tunables).find("glibc.malloc.") != std::string_view::npos;
}

}  // namespace

bool keep_freed_memory() {
#ifdef __GLIBC__
  // 32 MiB is the maximum of glibc's dynamic mmap threshold; larger blocks keep their own mapping.
  constexpr int kOwnMappingBytes = 32 << 20;
  if (user_sets_allocator_up()) return false;
  return mallopt(M_MMAP_THRESHOLD, kOwnMappingBytes) == 1 &&
         mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max()) == 1;
#else
  return false;
#endif
}

void return_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace kymo::worker
