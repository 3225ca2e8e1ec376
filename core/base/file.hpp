// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kymo {

/// Whole content of a file; throws Error naming it.
std::string read_file(const std::filesystem::path& file);

/// Replaces a file by way of a sibling and rename, so that readers see the old or the new content; throws Error.
void write_file(const std::filesystem::path& file, std::string_view content);

/// SHA-256 in lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);
std::string sha256_of_file(const std::filesystem::path& file);

/// True if others may write the file or the folder that holds it (sticky folders such as /tmp count as writable).
bool is_world_writable(const std::filesystem::path& file);

/// A new empty folder that only this user can enter, below TMPDIR or /tmp.
std::filesystem::path make_private_folder(std::string_view prefix);

/// The user's cache folder for kymo: $XDG_CACHE_HOME/kymo or ~/.cache/kymo; created on first use.
std::filesystem::path cache_folder();

}  // namespace kymo
