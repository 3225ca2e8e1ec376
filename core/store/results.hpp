// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "event/records.hpp"
#include "measure/plan.hpp"

namespace kymo::store {

/// A plugin library as stored with its results.
struct PluginRow {
  std::string name;
  std::string version;
  std::string file;
  std::string sha256;
  std::string framework;
  std::string framework_version;
  std::string cuda_version;
  std::string compiler;
};

/// A run as known before it starts.
struct RunRow {
  std::int64_t invocation_id = 0;
  PluginRow plugin;
  measure::Case what;
  measure::Method how;
  std::string suite;
  std::string suite_case;
  std::string label;
  int repetition = 0;
};

/// How a run ended.
struct RunEnd {
  std::string status;        ///< ok, oom, failed, crashed, timeout, interrupted, skipped
  std::string detail;        ///< one line; empty when ok
  std::string verification;  ///< passed, failed, unavailable, or empty if not asked for
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::optional<int> failed_rank;
  std::string failed_pass;
  std::string failed_phase;
  std::optional<std::int64_t> failed_step;
  std::optional<event::OutOfMemory> out_of_memory;  ///< if the supervisor itself saw it (host memory bound)
};

/// One worker process of a run, as the supervisor saw it.
struct WorkerRow {
  int rank = 0;
  measure::Pass pass = measure::Pass::kTime;
  std::int64_t pid = 0;
  std::string host;
  std::string status;
  std::string stdout_text;  ///< bounded; says at its end how much was cut
  std::string stderr_text;
};

/// What finishing a run leaves of what its workers observed. Whatever is chosen, the run's facts, figures, marks,
/// losses and everything derived stay: statistic, overhead, kernel_total, op_total, step_activity, kernel_outlier and
/// memory_phase.
enum class Keep {
  kSummary,  ///< only that: neither events nor what was sampled per step (sample, gpu_sample, memory_counter,
             ///< step_duration)
  /// What was sampled per step too, and of each observed pass the events of one measured step: that whose time is
  /// nearest the median. Calls are those made while it lasted, blocks and segments of memory those alive then; readings
  /// of the device's memory at named moments stay. A pass without a measured step ended early: its events say why, so
  /// all stay.
  kOneStep,
  kAll,
};
/// summary, one-step, all.
const char* to_string(Keep keep);
/// Throws UsageError naming the admitted words.
Keep keep_from(const std::string& word);

/// What merge did.
struct MergeReport {
  std::int64_t invocations_added = 0;
  std::int64_t runs_added = 0;
  std::int64_t runs_already_there = 0;
};

/// The results database. One object per process and file; not safe for use from several threads.
/// Every function throws Error with the file's name and what to do.
class ResultsDatabase {
 public:
  enum class Mode { kReadOnly, kReadWrite, kCreate };
  /// Opens (kCreate: or makes) a database; migrates an older one; refuses a foreign, damaged or newer one without
  /// touching it.
  ResultsDatabase(const std::filesystem::path& file, Mode mode);
  ~ResultsDatabase();
  ResultsDatabase(const ResultsDatabase&) = delete;
  ResultsDatabase& operator=(const ResultsDatabase&) = delete;

  const std::filesystem::path& file() const;

  /// Begins an invocation with the facts of this machine; returns its id.
  std::int64_t begin_invocation(const std::string& command,
                                const std::vector<std::pair<std::string, std::string>>& environment);
  void end_invocation(std::int64_t invocation_id, int exit_code);

  /// Commits a `running` row with its parameters and returns the run's id.
  std::int64_t begin_run(const RunRow& run);

  /// Merges the rank files, derives statistics and totals, and closes the run, in one transaction.
  /// A rank file that is missing, damaged or of another run is stored as a loss, not an error. Files are named
  /// RUN-<run>-<rank>-<pass>.kymo. Finishing a run again replaces what it held, so that a supervisor overrules a
  /// recovery that took it for dead. What `keep` leaves out is no loss; it is stored as run.keep.
  void finish_run(std::int64_t run_id, const RunEnd& end, const std::vector<WorkerRow>& workers,
                  const std::vector<std::filesystem::path>& rank_files, Keep keep = Keep::kAll);

  /// Closes what a killed supervisor left `running`. `folder` is that supervisor's scratch folder: its file `runs`
  /// lists the runs it began, one id and a newline each (a last line without newline is ignored), and
  /// RUN-<run>-<rank>-<pass>.kymo are rank files, adopted if complete. Exactly those runs that are still `running`
  /// become `interrupted`; nothing in the folder is deleted. Returns how many were closed.
  int recover(const std::filesystem::path& folder);

  /// A run whose row says `running`: its supervisor works on it, or was killed.
  struct OpenRun {
    std::int64_t run_id = 0;
    std::int64_t invocation_id = 0;
  };
  std::vector<OpenRun> running_runs() const;
  /// Closes those of the runs that are still `running` as `interrupted`, without rank files: for runs that no live
  /// supervisor's folder lists.
  int recover_runs(const std::vector<std::int64_t>& run_ids);

  /// How many runs of this plan key have status ok or oom already: what --resume skips.
  int finished_runs(const std::string& plan_key) const;

  /// Adds what another results database holds; runs that are there already (same invocation and place in it) and
  /// `running` ones are left alone.
  MergeReport merge(const std::filesystem::path& other);

  /// Which runs a report is about: the newest invocation of each plan key, unless narrowed.
  struct Selection {
    std::optional<std::string> label;
    std::optional<std::int64_t> invocation_id;
    std::optional<std::string> suite;
  };
  /// Fills the temporary table selected_run(run_id), which report queries join; returns how many runs it holds.
  std::int64_t select_runs(const Selection& selection);

  /// One typed cell of a result. Text is valid UTF-8; a blob comes as text x'...'.
  struct Cell {
    enum class Type { kNull, kInteger, kReal, kText } type = Type::kNull;
    std::int64_t integer = 0;
    double real = 0;
    std::string text;
  };
  struct Table {
    std::vector<std::string> columns;
    std::vector<std::vector<Cell>> rows;
  };
  /// Parameters are bound as text by name ("name" for ":name" in the statement); those that the statement does not use
  /// are ignored. Throws UsageError with SQLite's message for a statement that is wrong or would write.
  Table query(const std::string& sql, const std::vector<std::pair<std::string, std::string>>& parameters = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kymo::store
