// SPDX-License-Identifier: Apache-2.0
#include "supervisor/supervisor.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <map>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "measure/equivalence.hpp"
#include "measure/pace.hpp"
#include "supervisor/control_server.hpp"
#include "supervisor/program.hpp"
#include "supervisor/run_executor.hpp"
#include "supervisor/scratch.hpp"
#include "supervisor/steady_seconds.hpp"
#include "supervisor/time_limit.hpp"

namespace kymo::supervisor {
namespace {

/// Imports the rank files of a run. They are kept if that fails, and the next command that opens the database tries
/// again.
void finalize(store::ResultsDatabase& database, std::int64_t run_id, const ExecutedRun& executed, store::Keep keep,
              const Scratch& scratch) {
  try {
    database.finalize_run(run_id, executed.outcome, executed.workers, executed.rank_files, keep, executed.detached);
  } catch (const Error& error) {
    if (!scratch.has_rank_files()) throw;
    throw Error(std::string(error.what()) + "; the measurements of run " + std::to_string(run_id) + " are kept in " +
                    quote(scratch.folder().string()),
                error.code());
  }
}

/// The commits of the projects that are measured. Git is asked once per folder.
class ProjectCommits {
 public:
  explicit ProjectCommits(const std::filesystem::path& project) : project_(project) {}

  std::optional<Commit> of(const PlannedRun& run) {
    const std::filesystem::path file = project_.empty() ? std::filesystem::path(run.what.plugin_file) : project_;
    const auto [known, is_new] = commits_.try_emplace(project_.empty() ? file.parent_path() : file);
    if (is_new) known->second = project_commit(file);
    return known->second;
  }

 private:
  std::filesystem::path project_;
  std::map<std::filesystem::path, std::optional<Commit>> commits_;
};

/// Why runs are skipped without a worker, as known from the runs before.
class Skips {
 public:
  explicit Skips(const TimeLimit& all_runs) : all_runs_(all_runs) {}

  /// In one line; empty if the run is to be started. Runs that differ only in their seed share the reason.
  std::string reason(const PlannedRun& run) const {
    if (!run.skip_reason.empty()) return run.skip_reason;
    const auto before = before_.find(key(run));
    if (before != before_.end() && !before->second.skipped_for.empty()) return before->second.skipped_for;
    const double left_s = all_runs_.left_s(steady_seconds());
    if (left_s <= 0) return all_runs_.no_time_left();
    if (before == before_.end() || before->second.longest_s <= left_s) return "";
    return all_runs_.no_time_left("the run would take " + measure::time_text(before->second.longest_s));
  }

  void ended(const PlannedRun& run, const measure::Outcome& outcome, double took_s) {
    Before& before = before_[key(run)];
    // Not the reason of a run that was stopped: its repetitions do not begin.
    const bool has_time_left = all_runs_.left_s(steady_seconds()) > 0;
    if (outcome.status == measure::RunStatus::kSkipped && has_time_left) before.skipped_for = outcome.detail;
    before.longest_s = std::max(before.longest_s, took_s);
  }

 private:
  struct Before {
    std::string skipped_for;  ///< empty: it was executed
    double longest_s = 0;
  };

  static std::string key(const PlannedRun& run) {
    measure::RunIdentity same = run;
    same.method.seed = 0;
    return measure::equivalence_key(same, measure::Equivalence::kPlan);
  }

  TimeLimit all_runs_;
  std::map<std::string, Before> before_;
};

}  // namespace

Summary execute_runs(store::ResultsDatabase& database, std::int64_t invocation_id, const std::vector<PlannedRun>& runs,
                     const Options& options, const SupervisorConfig& config) {
  Summary summary;
  Scratch scratch(database, invocation_id);
  ProgressMeter meter(runs, options.on_progress);
  RunExecutor executor(config, scratch, meter, options.leader_options);
  executor.gather_followers();
  const TimeLimit all_runs(options.max_time_s);
  Skips skips(all_runs);
  ProjectCommits commits(options.project);
  const auto execute = [&](std::size_t i, const PlannedRun& run) {
    if (const std::string lost = scratch.lost(); !lost.empty()) throw Error("no further run is started: " + lost);
    const double begin_s = steady_seconds();
    meter.begin_run(i, begin_s);
    store::RunRow row = run;
    row.invocation_id = invocation_id;
    row.commit = commits.of(run);
    const std::int64_t run_id = database.begin_run(row);
    scratch.note(run_id);
    const std::string skip_reason = skips.reason(run);
    const ExecutedRun executed = skip_reason.empty()
                                     ? executor.execute(run_id, run, all_runs)
                                     : ExecutedRun{{measure::RunStatus::kSkipped, skip_reason}, {}, {}, {}};
    skips.ended(run, executed.outcome, steady_seconds() - begin_s);
    if (executed.ranks > 0 && executed.ranks != row.what.ranks) {
      row.what.ranks = executed.ranks;
      database.set_ranks(run_id, row);
    }
    finalize(database, run_id, executed, options.keep, scratch);
    scratch.clear(run_id);
    summary.runs.push_back(executed.outcome);
    meter.end_run(steady_seconds());
    return run_id;
  };
  for (std::size_t i = 0; i < runs.size() && executor.interrupted_by() == 0 && executor.can_continue(runs.size() - i);
       ++i) {
    if (options.proceed && !options.proceed(i)) break;
    if (!runs[i].program.further_windows.any()) {
      execute(i, runs[i]);
      continue;
    }
    PlannedRun program = runs[i];
    if (!program.program.further_windows.on_request) execute(i, run_of_window(program, first_window(program)));
    while (const auto window = executor.next_window(program)) {
      log::info("observing steps " + std::to_string(window->first) + " to " + std::to_string(window->end() - 1));
      executor.end_window(execute(i, run_of_window(program, *window)));
    }
    summary.program_end = executor.end_program();
  }
  executor.close();
  scratch.finish();
  summary.signal = executor.interrupted_by();
  if (options.leader_options) executor.finish_followers(options.leader_options->exit_code(summary));
  return summary;
}

void release_followers(const LeaderOptions& leader_options) {
  boost::asio::io_context loop{1};
  std::unique_ptr<FollowerHub> hub;
  const ControlServer server(
      loop,
      {[](WorkerId, const auto&) {}, [](WorkerId, const Frame&) {}, [](WorkerId, const std::string&) {},
       [&](int socket, const Json& first) { hub->take(socket, first); }},
      listen_address(leader_options.launcher_env));
  hub = std::make_unique<FollowerHub>(loop, leader_options.launcher_env,
                                      follower_protocol::plan_of(leader_options.plan), [](int, int) {});
  hub->gather([] { return false; });
  hub->finish(0);
}

Summary execute_runs(store::ResultsDatabase& database, std::int64_t invocation_id, const std::vector<PlannedRun>& runs,
                     const Options& options) {
  return execute_runs(database, invocation_id, runs, options, SupervisorConfig{});
}

}  // namespace kymo::supervisor
