// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kymo::worker {

/// From here on what the process frees stays with it. Otherwise glibc's allocator gives the end of its heap back
/// whenever 128 KiB are free there, and asks for it again in the next step: whether a step pays for the pages anew
/// depends on what happens to lie at the end. False, and nothing is changed, if the environment sets the allocator up
/// (MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_, GLIBC_TUNABLES), or if it is another allocator's.
bool keep_freed_memory();

/// Gives what is free now back to the system. Outside timed stretches.
void return_freed_memory();

}  // namespace kymo::worker
