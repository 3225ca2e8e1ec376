// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "measure/plan.hpp"
#include "store/results.hpp"

namespace kymo::supervisor {

/// A file that one process at a time holds; the system frees it when the process ends, however it ends.
class FileLock {
 public:
  FileLock() = default;
  ~FileLock() { release(); }
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

  /// Waits for it. Throws Error.
  static FileLock wait_for(const std::filesystem::path& file);
  /// An empty lock if another process holds it, or the file is not there. Throws Error.
  static FileLock try_existing(const std::filesystem::path& file);
  explicit operator bool() const { return fd_ >= 0; }
  void release();

 private:
  int fd_ = -1;
};

/// "RUN-<run>-<rank>-<pass>.kymo".
std::string rank_file_name(std::int64_t run_id, int rank, measure::Pass pass);

/// Where the rank files of one supervisor lie until they are merged: <database>.scratch/<unique name>/, with the files
/// `lock` (held while the supervisor lives), `invocation` (its number) and `runs` (those it began, one a line).
class Scratch {
 public:
  /// Recovers what others abandoned, then makes the folder. Throws Error if that cannot be done beside the database.
  Scratch(store::ResultsDatabase& database, std::int64_t invocation_id);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path rank_file(std::int64_t run_id, int rank, measure::Pass pass) const;
  /// Where the worker of this machine that writes it shows where it stands.
  std::filesystem::path place_file(std::int64_t run_id, int rank, measure::Pass pass) const;
  /// Notes a run that was begun. Throws Error.
  void note(std::int64_t run_id) const;
  /// Removes the rank files of a run.
  void clear(std::int64_t run_id) const;
  /// Everything is merged: removes the folder. Without this call the next supervisor recovers what is there.
  void finish();

 private:
  std::filesystem::path root_;
  std::filesystem::path folder_;
  FileLock lock_;
};

}  // namespace kymo::supervisor
