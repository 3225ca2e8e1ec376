// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kymo {

/// Reads a whole file. Throws Error that names the file.
std::string read_file(const std::filesystem::path& file);

/// Replaces a file atomically by writing a temporary file next to it and renaming it. Throws Error.
void write_file(const std::filesystem::path& file, std::string_view content);

/// Returns the SHA-256 hash as lowercase hexadecimal digits.
std::string sha256(std::string_view bytes);
std::string sha256_of_file(const std::filesystem::path& file);

/// Returns true if the file or its directory is world-writable. Sticky directories such as /tmp count as writable.
bool is_world_writable(const std::filesystem::path& file);

/// Creates an empty directory that only this user can access, in TMPDIR or /tmp.
std::filesystem::path make_private_folder(std::string_view prefix);

/// Returns kymo's cache directory, $XDG_CACHE_HOME/kymo or ~/.cache/kymo. Creates it if it does not exist.
std::filesystem::path cache_folder();

}  // namespace kymo
