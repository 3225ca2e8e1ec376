// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace kymo::supervisor {

/// How many processes the kernel has ended for lack of memory since it started; 0 if it does not say.
std::int64_t kernel_out_of_memory_kills();

/// Memory that processes of this machine could still get, in bytes.
std::optional<std::int64_t> available_host_bytes();

}  // namespace kymo::supervisor
