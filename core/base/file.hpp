// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kymo {

/// Reads a whole file. Throws Error that names the file.
std::string read_file(const std::filesystem::path& file);

/// Writes all bytes to a descriptor. Returns 0 or the error number.
int write_all(int fd, std::string_view bytes);

/// Replaces a file atomically by writing a temporary file next to it and renaming it. Throws Error.
void write_file(const std::filesystem::path& file, std::string_view content);

/// A new file or directory next to another, under a name that nobody can predict, open; a file for writing.
struct TemporarySibling {
  std::filesystem::path path;
  int fd = -1;
};
/// Its mode is that of any new file, and it is locked while it is open. Without permission, `fd` is -1 and errno gives
/// the reason.
TemporarySibling make_sibling(const std::filesystem::path& file);
/// The same for a directory that only this user can access.
TemporarySibling make_sibling_folder(const std::filesystem::path& file);
/// Removes what processes that were killed left of these: siblings of this user that no process has locked, and that
/// are a minute old.
void remove_abandoned_siblings(const std::filesystem::path& file);

/// Returns the SHA-256 hash as lowercase hexadecimal digits.
std::string sha256(std::string_view bytes);
std::string sha256_of_file(const std::filesystem::path& file);

/// Returns a cryptographically random token of 64 hexadecimal digits. Throws Error.
std::string random_token();

/// Returns why another user could alter an existing file, add files next to it or exchange a directory that contains
/// it, as a clause that names the place; empty if nobody can. Directories above the running program do not count. The
/// path must be canonical. Trusted are root, this user, the owner of the running program, and a group that consists of
/// the owner alone. A sticky directory such as /tmp is only safe above the file's own.
std::string why_alterable(const std::filesystem::path& real);

/// Creates an empty directory that only this user can access, in `base`, or by default in TMPDIR or /tmp.
std::filesystem::path make_private_folder(std::string_view prefix, const std::filesystem::path& base = {});

/// Returns kymo's cache directory, $XDG_CACHE_HOME/kymo or ~/.cache/kymo. Creates it if it does not exist.
std::filesystem::path cache_folder();

}  // namespace kymo
