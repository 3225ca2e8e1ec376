// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace kymo::supervisor {

/// Number of processes the kernel has killed for lack of memory since boot; 0 if unavailable.
std::int64_t kernel_out_of_memory_kills();

/// Memory available for processes of this machine, in bytes.
std::optional<std::int64_t> available_host_bytes();

}  // namespace kymo::supervisor
