// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "store/results.hpp"

namespace kymo::cli {

/// A copy of the database of a shard on a shared file system, so that its results survive the loss of its machine. It
/// is updated between runs, when nothing is measured, and takes at most a twentieth of the time. FILE.progress next to
/// it states {"finished", "runs", "not_ok"}: how many of the shard's runs are recorded, how many it has, and how many
/// of this invocation are neither ok, oom nor skipped.
class SavedCopy {
 public:
  /// `recorded` of the `runs` runs were finished before. Nothing is copied if `file` is empty.
  SavedCopy(const store::ResultsDatabase& database, std::filesystem::path file, std::size_t recorded, std::size_t runs);

  /// Called between runs, with the number of runs that this invocation has finished. Errors are logged once.
  void update(std::int64_t invocation, std::size_t finished);

 private:
  void copy();

  const store::ResultsDatabase& database_;
  std::filesystem::path file_;
  std::size_t recorded_ = 0, runs_ = 0;
  double next_copy_s_ = 0;
  bool failed_ = false;
};

/// Replaces FILE.progress. Throws Error.
void write_progress(const std::filesystem::path& file, std::size_t finished, std::size_t runs, std::int64_t not_ok);

}  // namespace kymo::cli
