// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kymo::worker {

/// Keeps freed memory in the process from now on. By default glibc trims the heap whenever 128 KiB are free at its end
/// and requests the memory again in the next step, so that page faults in a step depend on which block happens to be at
/// the end. Returns false and changes nothing if the environment configures the allocator (MALLOC_TRIM_THRESHOLD_,
/// MALLOC_MMAP_THRESHOLD_, GLIBC_TUNABLES) or if the allocator is not glibc's.
bool keep_freed_memory();

/// Returns free memory to the system. Do not call it while timing.
void return_freed_memory();

}  // namespace kymo::worker
