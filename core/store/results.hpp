// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/commit.hpp"
#include "base/enum_names.hpp"
#include "measure/equivalence.hpp"
#include "measure/outcome.hpp"
#include "store/limits.hpp"

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

/// How reports show a run, according to the description of its workload.
struct RunTitle {
  struct Parameter {
    int position = 0;           ///< in the declaration order
    std::string title;          ///< format of the value in titles, with {} for the value; empty if they do not show it
    bool is_setting = false;    ///< runs are compared only if they agree on it
    std::optional<int> choice;  ///< index of the value among the choices
  };
  std::string workload;  ///< begins the title
  std::string family;
  int family_order = 0;
  std::map<std::string, Parameter> parameters;
};

/// Properties of a run that are known before it starts.
struct RunRow : measure::RunIdentity {
  std::int64_t invocation_id = 0;
  PluginRow plugin;
  RunTitle title;
  std::string label;
  std::optional<Commit> commit = {};  ///< of the measured project
};

/// A worker process of a run, as observed by the supervisor.
struct WorkerRow {
  int rank = 0;
  measure::Pass pass = measure::Pass::kTime;
  std::int64_t pid = 0;
  std::string host;
  measure::RunStatus status = measure::RunStatus::kOk;
  std::string stdout_text;  ///< bounded; ends with a note about truncated output
  std::string stderr_text;
};

/// Processes that had left the process groups of the workers and were ended after a pass.
struct DetachedProcesses {
  int rank = -1;  ///< -1: of any rank on the supervisor's machine
  measure::Pass pass = measure::Pass::kTime;
  std::vector<std::string> names;
};

/// Amount of recorded data that finalize_run() retains. Run properties, metrics, marks, dropped-record counts and all
/// derived tables are always retained: statistic, overhead, kernel_total, launch_config, op_total, step_activity,
/// idle_total, kernel_outlier and memory_phase.
enum class Keep {
  kSummary,  ///< nothing else: neither events nor samples (sample, gpu_sample, gpu_utilization, memory_counter,
             ///< step_duration)
  /// Per-step samples and, for each observing pass, the events of one measured step: the one whose time is nearest to
  /// the median. These are the calls during that step and the memory blocks and segments live during it, and device
  /// memory readings at defined moments. If a pass has no measured step, it ended early; all of its events are retained
  /// for diagnosis.
  kOneStep,
  kAll,
};
constexpr auto names_of(Keep) {
  using enum Keep;
  return enum_names<Keep>("value of --keep", {{kSummary, "summary"}, {kOneStep, "one-step"}, {kAll, "all"}});
}

/// Result of a merge.
struct MergeReport {
  std::int64_t invocations_added = 0;
  std::int64_t runs_added = 0;
  std::int64_t runs_already_there = 0;
};

/// The results database. Use one object per process and file; not thread-safe. Every function throws Error with the
/// file's name, the cause and a remedy.
class ResultsDatabase {
 public:
  enum class Mode { kReadOnly, kReadWrite, kCreate };
  /// Opens a database, or creates it with kCreate. Migrates an older schema. Rejects a foreign, damaged or newer file
  /// without modifying it.
  ResultsDatabase(const std::filesystem::path& file, Mode mode);
  /// A database without tables, whose queries read nothing but their parameters.
  ResultsDatabase();
  ~ResultsDatabase();
  ResultsDatabase(const ResultsDatabase&) = delete;
  ResultsDatabase& operator=(const ResultsDatabase&) = delete;

  const std::filesystem::path& file() const;

  /// Begins an invocation, stores the environment of this machine, and returns the invocation id.
  std::int64_t begin_invocation(const std::string& command,
                                const std::vector<std::pair<std::string, std::string>>& environment);
  void end_invocation(std::int64_t invocation_id, int exit_code);
  /// Stores the runs that an invocation is going to begin, in their order, in one transaction. Those that it does not
  /// begin are the view unstarted_run.
  void plan_runs(std::int64_t invocation_id, const std::vector<const RunRow*>& runs);

  /// Commits a `running` row with its parameters and returns the run id.
  std::int64_t begin_run(const RunRow& run);
  /// Replaces the number of ranks of a running run, which is known only after its program has started them.
  void set_ranks(std::int64_t run_id, const RunRow& run);

  /// Imports the rank files, derives statistics and totals, and finalizes the run, in one transaction. A rank file that
  /// is missing, damaged or of another run is recorded as a DroppedRecords entry and is not an error. Files are named
  /// RUN-<run>-<rank>-<pass>.kymo. Finalizing a run again replaces its contents, so that a supervisor overrides a
  /// recovery that assumed it was dead. Data that `keep` excludes does not count as dropped records; `keep` is stored
  /// as run.keep. Detached processes become a DroppedRecords entry of source `detached`, which the views list as a
  /// warning.
  void finalize_run(std::int64_t run_id, const measure::Outcome& outcome, const std::vector<WorkerRow>& workers,
                    const std::vector<std::filesystem::path>& rank_files, Keep keep = Keep::kAll,
                    const std::vector<DetachedProcesses>& detached = {});

  /// Closes the runs that a killed supervisor left `running`. `folder` is that supervisor's scratch directory. Its file
  /// `runs` lists the runs that it began, one id per line (a last line without a newline is ignored). Its files
  /// RUN-<run>-<rank>-<pass>.kymo are rank files, which are imported if they are complete. Listed runs that are still
  /// `running` become `interrupted`. Nothing in the directory is deleted. Returns the number of closed runs.
  int recover(const std::filesystem::path& folder);

  /// A run with status `running`: its supervisor is alive, or was killed.
  struct OpenRun {
    std::int64_t run_id = 0;
    std::int64_t invocation_id = 0;
  };
  std::vector<OpenRun> running_runs() const;
  /// Closes the given runs that are still `running` as `interrupted`, without rank files. For runs that no live
  /// supervisor's directory lists.
  int recover_runs(const std::vector<std::int64_t>& run_ids);

  /// Returns the number of runs with this plan key and status ok or oom, which --resume skips. With `device_uuid`, only
  /// runs on this device count.
  int finished_runs(const std::string& plan_key, const std::string& device_uuid = "") const;

  /// Adds the contents of another results database. Skips runs that already exist (same invocation and sequence) and
  /// runs with status `running`.
  MergeReport merge(const std::filesystem::path& other);

  /// Queries that exceed a limit end with an Error. SQLite limits memory per process, so the limit holds for every
  /// database that the process has open.
  void set_limits(const Limits& limits);

  /// A typed cell of a result. Text is valid UTF-8; a blob is returned as text x'...'.
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
  /// Runs a read-only query. Parameters are bound as text by name ("name" for ":name" in the statement); unused ones
  /// are ignored. Throws UsageError with SQLite's message for an invalid statement, with the nearest known name for an
  /// unknown one, and for a statement that would write.
  Table query(const std::string& sql, const std::vector<std::pair<std::string, std::string>>& parameters = {}) const;
  /// Passes the column names and then each row of such a query on, so that a result of any size needs little memory.
  /// The database is locked for writers until it returns.
  using ReadColumns = std::function<void(const std::vector<std::string>&)>;
  using ReadRow = std::function<bool(const std::vector<Cell>&)>;  ///< returns false to stop
  void read(const std::string& sql, const std::vector<std::pair<std::string, std::string>>& parameters,
            const ReadColumns& read_columns, const ReadRow& read_row) const;

 private:
  friend class TemporaryChanges;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kymo::store
