// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace kymo {

/// A part of a file in memory, shared with it: what is written outlives the process, and no descriptor stays open that
/// the program could close.
///
/// Using the memory of a file that was truncated raises SIGBUS. Here, memory that is not shared with the file then
/// takes its place, so that a program which truncates a file of kymo's goes on. Other causes of SIGBUS have the effect
/// that they had before.
class FileMapping {
 public:
  FileMapping() = default;
  /// Allocates the bytes in the file: otherwise a full disk would be noticed when the memory is used. Empty, with
  /// errno, if that fails.
  FileMapping(int fd, std::size_t offset, std::size_t bytes) noexcept;
  FileMapping(FileMapping&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  FileMapping& operator=(FileMapping&& other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~FileMapping();

  explicit operator bool() const noexcept { return entry_ != nullptr; }
  std::byte* data() const noexcept;
  /// Whether other memory has taken the place of that of the file.
  bool is_lost() const noexcept;

  /// Handles SIGBUS again if the program has replaced the handler since the first mapping.
  static void guard() noexcept;

  struct Entry;

 private:
  Entry* entry_ = nullptr;
};

}  // namespace kymo
