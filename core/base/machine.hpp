// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// What Linux reports about this machine and this process.
namespace kymo {

/// Returns the value in the first line "KEY SEPARATOR VALUE" of a file; an empty string if there is none. Blanks around
/// the key and the value are ignored.
std::string value_of_line(const char* file, std::string_view key, char separator);

/// Model of the first CPU; empty if the kernel does not name it, as on Arm.
std::string cpu_model();

/// Number of processors that this process may use at the same time: those of its affinity mask, or fewer if its control
/// group, version 1 or 2, has a quota of processor time. `root` contains proc/ and sys/.
int available_processors(const std::filesystem::path& root = "/");

/// Memory available for processes of this machine without swapping, in bytes.
std::optional<std::int64_t> available_host_bytes();

/// Number of processes the kernel has killed for lack of memory since boot; 0 if unavailable.
std::int64_t kernel_out_of_memory_kills();

/// Peak resident size of this process, in bytes, since its start or the last reset.
std::optional<std::int64_t> peak_resident_bytes();

/// Resets the peak to the current size; false if the kernel does not permit it.
bool reset_peak_resident();

}  // namespace kymo
