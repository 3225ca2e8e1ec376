// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "measure/plan.hpp"
#include "store/results.hpp"

namespace kymo::supervisor {

/// An exclusive file lock. The system releases it when the process ends, however it ends.
class FileLock {
 public:
  FileLock() = default;
  ~FileLock() { release(); }
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

  /// Waits for the lock and, after two seconds, says so. Throws Error if the file is a symbolic link, or when the
  /// deadline expires; the default is long enough for the recovery of large rank files.
  static FileLock wait_for(const std::filesystem::path& file, double deadline_s = 300);
  /// Returns an empty lock if another process holds it or the file does not exist. Throws Error.
  static FileLock try_existing(const std::filesystem::path& file);
  explicit operator bool() const { return fd_ >= 0; }
  void release();

 private:
  int fd_ = -1;
};

/// "RUN-<run>-<rank>-<pass>.kymo".
std::string rank_file_name(std::int64_t run_id, int rank, measure::Pass pass);

/// Closes the runs that killed supervisors left `running` in this database and imports their finished rank files. Runs
/// of live supervisors are not changed. execute_runs() does this first. Returns the number of closed runs. Throws
/// Error.
int recover_abandoned(store::ResultsDatabase& database);

/// Folder for the rank files of one supervisor until they are merged: <database>.scratch/<unique name>/, which only
/// this user can access. It also contains the files `lock` (held while the supervisor runs), `invocation` (its id) and
/// `runs` (the ids of its runs, one per line).
class Scratch {
 public:
  /// Recovers abandoned runs, then creates the folder. Throws Error if this is not possible next to the database.
  Scratch(store::ResultsDatabase& database, std::int64_t invocation_id);
  /// After an error, keeps the folder only if it contains rank files, which the next supervisor imports.
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  /// Absolute path of the database.
  const std::filesystem::path& database() const { return database_; }
  std::filesystem::path rank_file(std::int64_t run_id, int rank, measure::Pass pass) const;
  /// Status page of the local worker that writes this rank file.
  std::filesystem::path status_file(std::int64_t run_id, int rank, measure::Pass pass) const;
  /// Where damaged journals are kept after the folder is removed.
  const std::filesystem::path& damaged_journals() const { return damaged_journals_; }
  /// Records a started run. Throws Error.
  void note(std::int64_t run_id) const;
  /// Why measurements are lost, as a sentence, if a workload or program has removed the directory; otherwise empty, and
  /// this user can access the directory again.
  std::string lost() const;
  /// True if rank files are waiting for their import.
  bool has_rank_files() const;
  /// Removes the rank files of a run.
  void clear(std::int64_t run_id) const;
  /// Removes the rank file of a rank, and what is written next to it.
  void clear(std::int64_t run_id, int rank, measure::Pass pass) const;
  /// Removes the folder after everything is merged. Otherwise the next supervisor recovers its content.
  void finish();

 private:
  void remove_named(const std::string& prefix) const;

  std::filesystem::path database_;
  std::filesystem::path root_;
  std::filesystem::path damaged_journals_;
  std::filesystem::path folder_;
  FileLock lock_;
};

}  // namespace kymo::supervisor
