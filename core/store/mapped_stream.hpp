// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_mapping.hpp"

namespace kymo::store {

/// A file to which a thread appends that must not wait: it only copies into mapped memory, whose pages another thread
/// has allocated ahead. What was appended outlives the process.
///
/// The file is longer than what was appended; the rest is 0.
class MappedStream {
 public:
  static constexpr std::size_t kChunkBytes = std::size_t{2} << 20;  ///< the file grows by so much

  /// The first append() creates the file.
  explicit MappedStream(std::filesystem::path file) : file_(std::move(file)) {}
  ~MappedStream();
  MappedStream(const MappedStream&) = delete;
  MappedStream& operator=(const MappedStream&) = delete;

  /// The size is a multiple of 8 bytes, and the first four bytes are not 0: they are written last, so that a reader who
  /// finds them finds everything. Returns false, now and from then on, if the file exists already, was replaced or
  /// truncated, or cannot grow, and in a child of the process that created the file.
  bool append(std::span<const std::byte> bytes) noexcept;

 private:
  /// The thread that maps chunks ahead, and what it shares with the one that appends.
  struct Ahead {
    std::thread thread;
    std::condition_variable changed;
    std::mutex mutex;                 // protects what follows
    std::size_t number = 0;           // of the chunk that is being filled
    std::optional<FileMapping> next;  // the chunk after that, empty if the file cannot grow; nothing while it is mapped
    std::vector<FileMapping> full;    // chunks to unmap
    bool end = false;
  };

  bool open_first() noexcept;
  /// The chunk that was filled is unmapped in the other thread, because that takes time, too, unless it is moved to
  /// `kept`.
  bool open_next(FileMapping* kept) noexcept;
  /// Empty if the file cannot grow.
  FileMapping map_chunk(std::size_t number) noexcept;
  void map_ahead() noexcept;

  const std::filesystem::path file_;
  FileMapping chunk_;     // the one that is being filled
  std::size_t used_ = 0;  // of that chunk
  pid_t owner_ = 0;       // the process that created the file
  ino_t inode_ = 0;
  bool failed_ = false;
  std::unique_ptr<Ahead> ahead_;
};

}  // namespace kymo::store
