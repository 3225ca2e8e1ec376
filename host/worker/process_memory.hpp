// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace kymo::worker {

/// Highest resident size of this process, in bytes, since it began or since the last reset.
std::optional<std::int64_t> peak_resident_bytes();

/// Starts the peak anew from the present size; false where the kernel does not permit it.
bool reset_peak_resident();

/// Host memory that could still be had without swapping, in bytes.
std::optional<std::int64_t> available_host_bytes();

}  // namespace kymo::worker
