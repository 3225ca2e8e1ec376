// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace kymo::worker {

/// Peak resident size of this process, in bytes, since its start or the last reset.
std::optional<std::int64_t> peak_resident_bytes();

/// Resets the peak to the current size; false if the kernel does not permit it.
bool reset_peak_resident();

/// Host memory available without swapping, in bytes.
std::optional<std::int64_t> available_host_bytes();

}  // namespace kymo::worker
