// SPDX-License-Identifier: Apache-2.0
#include "cli/saved_copy.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "supervisor/steady_seconds.hpp"

namespace kymo::cli {
namespace {

namespace fs = std::filesystem;
using supervisor::steady_seconds;

constexpr double kLeastPauseS = 30;
constexpr double kPausePerCopy = 20;

std::int64_t count_not_ok(const store::ResultsDatabase& database, std::int64_t invocation) {
  const auto found = database.query(
      "SELECT count(*) FROM run WHERE status NOT IN ('ok', 'oom', 'skipped', 'running') AND invocation_id = " +
      std::to_string(invocation));
  return found.rows.at(0).at(0).integer;
}

}  // namespace

void write_progress(const fs::path& file, std::size_t finished, std::size_t runs, std::int64_t not_ok) {
  write_file(file.string() + ".progress",
             Json{{"finished", finished}, {"runs", runs}, {"not_ok", not_ok}}.dump() + "\n");
}

SavedCopy::SavedCopy(const store::ResultsDatabase& database, fs::path file, std::size_t recorded, std::size_t runs)
    : database_(database), file_(std::move(file)), recorded_(recorded), runs_(runs) {}

void SavedCopy::update(std::int64_t invocation, std::size_t finished) {
  if (file_.empty()) return;
  try {
    write_progress(file_, recorded_ + finished, runs_, count_not_ok(database_, invocation));
    if (finished > 0 && steady_seconds() >= next_copy_s_) copy();
    failed_ = false;
  } catch (const std::exception& error) {  // the shared file system may come back
    if (!std::exchange(failed_, true))
      log::warning("cannot update the copy of the database, " + quote(file_.string()) + ": " + error.what());
  }
}

void SavedCopy::copy() {
  const double begin_s = steady_seconds();
  next_copy_s_ = begin_s + kLeastPauseS;  // also if it fails
  const fs::path made = file_.string() + ".new";
  // Nobody else writes the database of a shard, and no transaction is open between runs: the file is complete.
  fs::copy_file(database_.file(), made, fs::copy_options::overwrite_existing);
  fs::rename(made, file_);
  const double end_s = steady_seconds();
  next_copy_s_ = end_s + std::max(kLeastPauseS, kPausePerCopy * (end_s - begin_s));
}

}  // namespace kymo::cli
