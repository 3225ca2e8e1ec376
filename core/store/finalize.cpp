// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "store/copy_rows.hpp"
#include "store/impl.hpp"
#include "store/rank_import.hpp"
#include "store/retention.hpp"
#include "store/summary.hpp"

namespace kymo::store {
namespace {

constexpr std::array<std::string_view, 7> kEnds{"ok", "oom", "failed", "crashed", "timeout", "interrupted", "skipped"};

void check_status(const RunEnd& end) {
  if (std::find(kEnds.begin(), kEnds.end(), end.status) != kEnds.end()) return;
  throw Error("invalid status of a completed run: " + quote(end.status) +
              "; expected one of ok, oom, failed, crashed, timeout, interrupted, skipped");
}

/// Parameters and libraries define the run; the other tables contain what was recorded.
void forget_observations(const Connection& results, std::int64_t run_id) {
  for (const std::string& table : tables_of_runs(results)) {
    if (table == "param" || table == "run_library") continue;
    Statement(results, "DELETE FROM main." + table + " WHERE run_id = ?").bind(1, run_id).run();
  }
}

void store_worker(const Connection& results, std::int64_t run_id, const WorkerRow& worker) {
  Statement(
      results,
      "INSERT INTO main.rank (run_id, rank, pass, pid, host, status, stdout, stderr) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT (run_id, rank, pass) DO UPDATE SET pid = excluded.pid, host = excluded.host, status = "
      "excluded.status, "
      "stdout = excluded.stdout, stderr = excluded.stderr")
      .bind_all(run_id, worker.rank, measure::to_string(worker.pass), worker.pid, worker.host, worker.status,
                worker.stdout_text, worker.stderr_text)
      .run();
}

/// Values reported by a rank take precedence.
void store_out_of_memory(const Connection& results, std::int64_t run_id, const RunEnd& end) {
  if (!end.out_of_memory) return;
  const event::OutOfMemory& o = *end.out_of_memory;
  Statement(results,
            "INSERT OR IGNORE INTO main.out_of_memory (run_id, rank, pass, location, requested_bytes, free_bytes, "
            "peak_bytes) VALUES (?, ?, "
            "?, ?, ?, ?, ?)")
      .bind_all(run_id, end.failed_rank.value_or(-1), end.failed_pass, o.where, o.requested_bytes, o.free_bytes,
                o.peak_bytes)
      .run();
}

void store_end(const Connection& results, std::int64_t run_id, const RunEnd& end, Keep keep) {
  Statement(results,
            "UPDATE main.run SET status = ?, detail = ?, verification = ?, exit_code = ?, signal = ?, failed_rank = ?, "
            "failed_pass = ?, "
            "failed_phase = ?, failed_step = ?, ended_at = ?, keep = ? WHERE run_id = ?")
      .bind_all(end.status, end.detail, end.verification, end.exit_code, end.signal, end.failed_rank, end.failed_pass,
                end.failed_phase, end.failed_step, wall_time_utc(), to_string(keep), run_id)
      .run();
  if (results.changes() == 1) return;
  throw Error("database " + quote(results.file().string()) + " contains no run " + std::to_string(run_id) +
              "; begin a run before finalizing it");
}

}  // namespace

const Connection& writable(const std::filesystem::path& file, const Connection& connection, bool read_only) {
  if (read_only) throw Error("database " + quote(file.string()) + " was opened read-only; open it for writing");
  return connection;
}

void close_run(const Connection& results, std::int64_t run_id, const RunEnd& end, const std::vector<WorkerRow>& workers,
               const std::vector<std::filesystem::path>& rank_files, Keep keep) {
  check_status(end);
  forget_observations(results, run_id);
  store_end(results, run_id, end, keep);
  import_rank_files(results, run_id, rank_files, choose_retention(keep, run_id, rank_files));
  for (const WorkerRow& worker : workers) store_worker(results, run_id, worker);
  store_out_of_memory(results, run_id, end);
  summarize_run(results, run_id);
  derive_overhead(results, run_id);
  drop_summarized_events(results, run_id, keep);
}

void ResultsDatabase::finalize_run(std::int64_t run_id, const RunEnd& end, const std::vector<WorkerRow>& workers,
                                   const std::vector<std::filesystem::path>& rank_files, Keep keep) {
  const Connection& results = writable(impl_->file, *impl_->connection, impl_->read_only);
  Transaction transaction(results);
  close_run(results, run_id, end, workers, rank_files, keep);
  transaction.commit();
}

}  // namespace kymo::store
