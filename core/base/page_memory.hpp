// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory_resource>

namespace kymo {

/// Whole pages of the system. For records that a pass keeps until its end: small blocks that are not released until
/// then would lie between those of the observed program and fragment its heap, where malloc then takes longer. Use it
/// below a resource that allocates in large pieces. Throws std::bad_alloc if the system has no memory. Thread-safe.
std::pmr::memory_resource* page_memory() noexcept;

}  // namespace kymo
