// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "event/records.hpp"
#include "store/rank_file.hpp"
#include "store/results.hpp"

namespace kymo::store::testing {

using measure::Outcome;
using measure::RunStatus;

/// A separate directory per test, and results to store in it.
class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// A run of workload "saxpy" with parameter n.
RunRow make_run(std::int64_t invocation_id, std::int64_t n = 8, int ranks = 1);

/// `steps` steps of 1000 + 10 * step ns, the first two of which are warm-up; the phase "compute" takes half of each.
event::PassRecord make_record(std::int64_t steps = 12);

std::filesystem::path rank_file_name(const std::filesystem::path& folder, std::int64_t run_id, int rank,
                                     measure::Pass pass);

/// Begins and finishes one successful run through a rank file in `scratch`; returns its ID.
std::int64_t store_run(ResultsDatabase& database, std::int64_t invocation_id, const std::filesystem::path& scratch,
                       std::int64_t n = 8);

/// Creates a database with one invocation and `runs` successful runs.
void make_database(const std::filesystem::path& file, int runs = 1);

/// Query result as text: cells separated by '|', rows by ';', NULL as "NULL".
std::string ask(const ResultsDatabase& database, const std::string& sql);

/// Executes statements through the SQLite C API, like a third-party tool.
void tamper(const std::filesystem::path& file, const std::string& sql);

std::string content_of(const std::filesystem::path& file);
void put_content(const std::filesystem::path& file, const std::string& content);

/// Number of damaged copies of a file to try. With sanitizers, each takes several times as long, so that their test
/// preset limits it.
int damaged_copies(int count);

/// The message of the Error that `action` throws; fails the test if it throws none or more than one line.
std::string error_of(const std::function<void()>& action);

/// Writes a transaction and is killed in its middle: a part of the changed pages is in the file, the original pages
/// are in the journal. The transaction deletes all parameters.
void leave_hot_journal(const std::filesystem::path& file);

/// A small file system, unmounted on destruction.
class SmallDisk {
 public:
  SmallDisk(const std::filesystem::path& folder, const std::string& size);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  /// Without the permission to mount, tests are skipped, except in continuous integration.
  bool is_mounted() const { return mounted_; }
  /// Leaves `left` bytes of free space.
  void fill(std::int64_t left = 0) const;

 private:
  std::filesystem::path folder_;
  bool mounted_;
};
#define SKIP_UNLESS_MOUNTED(disk)                                                                            \
  if (!(disk).is_mounted()) {                                                                                \
    if (std::getenv("CI")) FAIL() << "may not mount a small file system, which continuous integration must"; \
    GTEST_SKIP() << "may not mount a small file system here";                                                \
  }

/// Runs `body` in a forked child; returns the status from waitpid.
int in_child(const std::function<int()>& body);

}  // namespace kymo::store::testing
