// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>

#include "base/file.hpp"
#include "store/impl.hpp"
#include "store/journal_recovery.hpp"
#include "store/rank_import.hpp"

namespace kymo::store {
namespace {

namespace fs = std::filesystem;

/// Rank files by run.
using RunFiles = std::map<std::int64_t, std::vector<fs::path>>;

/// Adds each complete line that is a number; a last line without a newline may be truncated.
void add_listed_runs(const fs::path& list, RunFiles& runs) {
  std::error_code error;
  if (!fs::is_regular_file(list, error)) return;
  const std::string text = read_file(list);
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    std::int64_t run_id = 0;
    const auto [stop, error_code] = std::from_chars(text.data() + begin, text.data() + end, run_id);
    if (error_code == std::errc() && stop == text.data() + end && stop != text.data() + begin) runs[run_id];
    begin = end + 1;
  }
}

void add_rank_files(const fs::path& folder, RunFiles& runs) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), none; !error && entry != none; entry.increment(error)) {
    const auto name = parse_rank_file_name(entry->path());
    if (name && runs.count(name->run_id) > 0) runs[name->run_id].push_back(entry->path());
  }
  for (auto& [run_id, files] : runs) std::sort(files.begin(), files.end());
}

bool is_running(const Connection& results, std::int64_t run_id) {
  Statement running(results, "SELECT 1 FROM main.run WHERE run_id = ? AND status = 'running'");
  return running.bind(1, run_id).step();
}

/// Derives the verification result that the supervisor would have stored: the worst result of all checks.
void derive_verification(const Connection& results, std::int64_t run_id) {
  Statement(
      results,
      "UPDATE main.run SET verification = coalesce((SELECT CASE WHEN max(outcome = 'failed') THEN 'failed' "
      "WHEN max(outcome = 'unavailable') THEN 'unavailable' ELSE 'passed' END FROM main.verification WHERE run_id = ?1 "
      "HAVING count(*) > 0), '') WHERE run_id = ?1")
      .bind(1, run_id)
      .run();
}

/// Uses one transaction per run, like its supervisor would.
int close_interrupted(const Connection& results, const RunFiles& runs) {
  int closed = 0;
  for (const auto& [run_id, files] : runs) {
    if (!is_running(results, run_id)) continue;
    Transaction transaction(results);
    if (!is_running(results, run_id)) continue;
    close_run(
        results, run_id,
        {measure::RunStatus::kInterrupted, "its supervisor was killed; completed results of its workers were retained"},
        {}, files);
    derive_verification(results, run_id);
    transaction.commit();
    ++closed;
  }
  return closed;
}

}  // namespace

int ResultsDatabase::recover(const fs::path& folder) {
  const Connection& results = writable(impl_->file, *impl_->connection, impl_->read_only);
  RunFiles runs;
  add_listed_runs(folder / "runs", runs);
  if (runs.empty()) return 0;
  recover_journals(folder, damaged_journals_of(impl_->file));
  add_rank_files(folder, runs);
  return close_interrupted(results, runs);
}

std::vector<ResultsDatabase::OpenRun> ResultsDatabase::running_runs() const {
  std::vector<OpenRun> runs;
  Statement running(*impl_->connection,
                    "SELECT run_id, invocation_id FROM main.run WHERE status = 'running' ORDER BY run_id");
  while (running.step()) runs.push_back({running.integer(0), running.integer(1)});
  return runs;
}

int ResultsDatabase::recover_runs(const std::vector<std::int64_t>& run_ids) {
  const Connection& results = writable(impl_->file, *impl_->connection, impl_->read_only);
  RunFiles runs;
  for (const std::int64_t run_id : run_ids) runs[run_id];
  return close_interrupted(results, runs);
}

}  // namespace kymo::store
