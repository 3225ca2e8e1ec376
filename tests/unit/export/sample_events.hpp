// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/results.hpp"

namespace kymo::exports::testing {

/// A string that breaks formats without correct escaping.
inline const std::string kHostile =
    "=cmd|'/C calc'!A1 \"}],\\\n</script><img src=x>\t\x1b[31m, \xe2\x80\xae \xf0\x9f\x94\xa5";

/// Results in a separate directory. Runs 1 to 4 as in tests/sql/common/runs.sql, of which run 4 is the newest: run 1
/// keeps a summary only; run 3 has passes trace (two ranks), ops and memory with events; runs 2 and 4 have no events.
class ExportTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  const store::ResultsDatabase& database() const { return *database_; }
  /// Executes statements on the file as plain SQL.
  void execute(const std::string& sql);
  /// The ID of a text in table string.
  int text_id(const std::string& text);
  /// Names of all files in the directory except the database, sorted.
  std::vector<std::string> files() const;

 private:
  void add_texts();
  void add_trace();
  void add_ops();
  void add_memory();
  void add_collectives();

  std::filesystem::path folder_;
  sqlite3* file_ = nullptr;  // stays open: SQLite parses the whole schema for each connection
  std::unique_ptr<store::ResultsDatabase> database_;
};

/// The message of the Error that `action` throws; fails the test if it throws none, or more than one line.
std::string error_of(const std::function<void()>& action);

}  // namespace kymo::exports::testing
