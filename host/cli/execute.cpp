// SPDX-License-Identifier: Apache-2.0
#include "cli/execute.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <optional>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/environment.hpp"
#include "cli/saved_copy.hpp"
#include "cli/sweep.hpp"
#include "report/renderer.hpp"
#include "store/results.hpp"
#include "supervisor/follower.hpp"
#include "supervisor/launcher_environment.hpp"
#include "supervisor/supervisor.hpp"
#include "terminal/print.hpp"
#include "terminal/progress.hpp"
#include "terminal/reading.hpp"
#include "terminal/results_table.hpp"
#include "terminal/run_details.hpp"
#include "terminal/run_results.hpp"
#include "terminal/unstarted.hpp"
#include "worker/devices.hpp"

namespace kymo::cli {
using namespace plan;
using namespace terminal;
namespace {

using supervisor::LauncherEnvironment;
using supervisor::PlannedRun;
using supervisor::Summary;

void print_json(const Json& json) { print(json_text(json)); }

/// The GPUs of this machine; probed at most once, and only if a caller needs them.
class GpuCount {
 public:
  Gpus operator()() {
    if (!known_) {
      const worker::Devices devices = worker::probe_devices();
      known_ = Gpus{static_cast<int>(devices.gpus.size()), devices.no_gpu_reason};
    }
    return *known_;
  }

 private:
  std::optional<Gpus> known_;
};

/// Marks a run as skipped if it needs more ranks than the torchrun or Slurm job has; otherwise it uses the first ranks.
void fit_to(const std::optional<LauncherEnvironment>& launcher_env, PlannedRun& run) {
  if (!launcher_env || run.what.ranks <= launcher_env->world_size || !run.skip_reason.empty()) return;
  run.skip_reason = "the case needs " + std::to_string(run.what.ranks) + " ranks, but this job has " +
                    std::to_string(launcher_env->world_size);
}

std::vector<PlannedCase> all_cases(const Invocation& invocation, Targets& targets, const RunOptions& options,
                                   const std::optional<LauncherEnvironment>& launcher_env,
                                   const std::function<Gpus()>& gpus) {
  std::vector<PlannedCase> cases;
  for (CaseSpec spec : invocation.specs) {
    apply(options, spec);
    if (launcher_env && invocation.ranks == Ranks::kOfLauncher) spec.ranks = {launcher_env->world_size};
    const catalog::Found found = targets.find(spec.workload);
    for (PlannedCase& planned : expand(spec, *found.plugin, *found.workload, gpus, invocation.missing)) {
      planned.run.label = options.label;
      fit_to(launcher_env, planned.run);
      cases.push_back(std::move(planned));
    }
    if (cases.size() > kMaxCases)
      throw UsageError("more than " + std::to_string(kMaxCases) + " cases; reduce the number of axis values");
  }
  return cases;
}

/// The cases whose machine has as many GPUs as they need, to be divided among jobs on other machines.
std::size_t count_cases(const Invocation& invocation, Targets& targets, const RunOptions& options) {
  const auto enough_gpus = [] { return Gpus{static_cast<int>(kMaxRanks), ""}; };
  std::vector<PlannedCase> cases = all_cases(invocation, targets, options, std::nullopt, enough_gpus);
  if (!options.filter.empty()) cases = matching(std::move(cases), options.filter);
  const std::size_t count = cases.size();
  if (invocation.against)  // reports what the peer does not accept
    with_peer(std::move(cases), *invocation.against, targets.find(invocation.against->workload), enough_gpus,
              invocation.missing);
  return count;
}

/// The runs to execute, and the pairs of them to show side by side.
struct Plan {
  std::vector<PlannedRun> runs;
  std::vector<Pair> pairs;
  std::size_t recorded = 0;  ///< runs that were removed because they are in the database
};

Plan plan(const Invocation& invocation, Targets& targets, const RunOptions& options,
          const std::optional<LauncherEnvironment>& launcher_env) {
  GpuCount gpu_count;
  const auto gpus = [&] {
    Gpus found = gpu_count();
    if (launcher_env) found.max_needed = launcher_env->gpus_needed;
    return found;
  };
  std::vector<PlannedCase> cases = all_cases(invocation, targets, options, launcher_env, gpus);
  if (!options.filter.empty()) cases = matching(std::move(cases), options.filter);
  if (options.shard) cases = shard_of(std::move(cases), *options.shard);
  InterleavedCases interleaved{std::move(cases), {}};
  if (invocation.against)
    interleaved = with_peer(std::move(interleaved.cases), *invocation.against,
                            targets.find(invocation.against->workload), gpus, invocation.missing);
  std::int64_t runs = 0;
  for (const PlannedCase& planned : interleaved.cases) {
    if (__builtin_add_overflow(runs, planned.repeat, &runs) || runs > static_cast<std::int64_t>(kMaxCases)) {
      throw UsageError("more than " + std::to_string(kMaxCases) + " runs; reduce --repeat");
    }
  }
  std::vector<PlannedRun> planned = repeated(interleaved.cases);
  for (std::size_t index = 0; index < planned.size(); ++index) planned[index].plan_index = index;
  return {std::move(planned), std::move(interleaved.pairs)};
}

/// Removes runs already in the databases; without a database it removes nothing.
void remove_finished(Plan& planned, const RunOptions& options, const std::string& device_uuid) {
  if (!options.resume) return;
  const std::size_t before = planned.runs.size();
  for (const std::filesystem::path& file : {options.database, options.resume_from}) {
    if (file.empty() || is_missing(file)) continue;
    const store::ResultsDatabase database(file, store::ResultsDatabase::Mode::kReadOnly);
    planned.runs = unfinished(std::move(planned.runs),
                              [&](const std::string& key) { return database.finished_runs(key, device_uuid); });
  }
  planned.recorded = before - planned.runs.size();
}

Json plan_json(const std::vector<PlannedRun>& runs) {
  Json json = Json::array();
  for (const PlannedRun& run : runs) {
    json.push_back({{"suite", run.suite},
                    {"suite_case", run.suite_case},
                    {"repetition", run.repetition},
                    {"case_key", measure::equivalence_key(run, measure::Equivalence::kCase)},
                    {"plan_key", measure::equivalence_key(run, measure::Equivalence::kPlan)},
                    {"case", run.what},
                    {"method", run.method},
                    {"skip_reason", run.skip_reason}});
  }
  return json;
}

int print_plan(const std::vector<PlannedRun>& runs, const RunOptions& options) {
  if (options.json) {
    print_json(plan_json(runs));
    return 0;
  }
  TextTable table{
      {"#", "ranks", "device", "warmup", "steps", "repetition", "case"}, {true, true, false, true, true, true}, {}};
  for (const PlannedRun& run : runs) {
    table.rows.push_back({std::to_string(table.rows.size() + 1), std::to_string(run.what.ranks),
                          measure::to_string(run.what.device), std::to_string(run.method.warmup),
                          run.method.until ? measure::to_text(*run.method.until) : std::to_string(run.method.steps),
                          std::to_string(run.repetition),
                          full_title(run) + (run.skip_reason.empty() ? "" : " (skipped: " + run.skip_reason + ")")});
  }
  table.wraps = true;
  print(table_text(table, output_style(options.wide, options.markdown)));
  return 0;
}

/// Shows what the passes trace, ops and memory recorded in the first runs that have them.
void show_observed(const store::ResultsDatabase& database, const Json& results, const RunOptions& options,
                   const TextStyle& style) {
  static constexpr std::size_t kMaxShown = 3;
  std::size_t shown = 0;
  for (const Json& run : results) {
    const std::vector<measure::Pass> passes = measure::passes_from("passes", run["passes"].get<std::string>());
    if (run["status"] != "ok" || std::ranges::none_of(passes, measure::observes) || ++shown > kMaxShown) continue;
    const auto run_id = run["run_id"].get<std::int64_t>();
    const std::string text =
        text_of(observed("observed", database, run_id, options.database.string()).document(), style);
    if (!text.empty()) print("\nrun " + std::to_string(run_id) + ":\n" + text);
  }
  if (shown > kMaxShown) print("\n" + std::to_string(shown - kMaxShown) + " more runs with records: 'kymo show RUN'\n");
}

int show(const store::ResultsDatabase& database, std::int64_t invocation, const std::vector<Pair>& pairs,
         const RunOptions& options, int code) {
  const Json results = invocation_results(database, invocation);
  const Json against =
      pairs.empty() ? Json::array() : against_rows(results, declared_work(database, invocation), pairs);
  if (options.json) {
    Json output{
        {"database", database.file().string()}, {"invocation_id", invocation}, {"exit_code", code}, {"runs", results}};
    if (!pairs.empty()) output["against"] = against;
    print_json(output);
    return code;
  }
  const TextStyle style = output_style(options.wide, options.markdown);
  print(results_text(results, style, options.database.string()));
  if (options.show_checks) print("\n" + output_text("checks", {{"runs", dump_json(results)}}, style));
  show_observed(database, results, options, style);
  if (!pairs.empty()) print("\n" + text_of(against_document(against), style));
  print(style.text(unstarted_lines(database, {invocation, "", ""})));
  print(style.text("results: " + visible(database.file().string()) + ", invocation " + std::to_string(invocation) +
                   "\n"));
  return code;
}

int execute_and_report(const Plan& planned, const RunOptions& options, const std::string& command_line,
                       bool show_results, const supervisor::LeaderOptions* leader_options) {
  store::ResultsDatabase database(options.database, store::ResultsDatabase::Mode::kCreate);
  const std::int64_t invocation = database.begin_invocation(command_line, machine_facts());
  std::vector<const store::RunRow*> rows;
  for (const PlannedRun& run : planned.runs) rows.push_back(&run);
  database.plan_runs(invocation, rows);
  supervisor::Options supervisor_options;
  supervisor_options.keep = options.keep;
  supervisor_options.max_time_s = options.max_time_s.value_or(0);
  supervisor_options.project = options.project;
  supervisor_options.leader_options = leader_options;
  SavedCopy saved(database, options.saved_copy, planned.recorded, planned.recorded + planned.runs.size());
  supervisor_options.proceed = [&](std::size_t finished) {
    saved.update(invocation, finished);
    return true;
  };
  const Summary summary = execute_planned(database, invocation, planned.runs, supervisor_options, options.fail_on_oom);
  saved.update(invocation, summary.runs.size());
  const int code = exit_code(summary, options.fail_on_oom);
  if (!show_results) {
    for (const std::string& line : failures(invocation_results(database, invocation))) log::error(line);
    return code;
  }
  return show(database, invocation, planned.pairs, options, code);
}

}  // namespace

Summary execute_invocation(store::ResultsDatabase& database, std::int64_t invocation,
                           const std::vector<PlannedRun>& runs, const supervisor::Options& options,
                           const std::function<int(const Summary&)>& code_of) {
  try {
    Summary summary = supervisor::execute_runs(database, invocation, runs, options);
    database.end_invocation(invocation, code_of(summary));
    return summary;
  } catch (const Error& error) {
    database.end_invocation(invocation, static_cast<int>(error.code()));
    throw;
  }
}

Summary execute_planned(store::ResultsDatabase& database, std::int64_t invocation, const std::vector<PlannedRun>& runs,
                        supervisor::Options options, bool fail_on_oom,
                        const std::function<void(supervisor::ProgressView&)>& limit) {
  Progress progress([&](std::size_t index) {
    const Json result = brief_result(database, invocation, index);
    return result.is_null() ? "" : result_line(result);
  });
  options.on_progress = [&](supervisor::ProgressView view) {
    if (limit) limit(view);
    progress.show(view);
  };
  Summary summary = execute_invocation(database, invocation, runs, options,
                                       [&](const Summary& ended) { return exit_code(ended, fail_on_oom); });
  progress.finish(summary.runs.size());
  return summary;
}

int exit_code(const Summary& summary, bool fail_on_oom) {
  using measure::RunStatus;
  if (summary.signal != 0) return exit_code_of_signal(summary.signal);
  const bool failed = std::ranges::any_of(summary.runs, [&](const measure::Outcome& run) {
    return run.status != RunStatus::kOk && run.status != RunStatus::kSkipped &&
           (run.status != RunStatus::kOom || fail_on_oom);
  });
  return static_cast<int>(failed ? ExitCode::kRunFailed : ExitCode::kOk);
}

int execute(const Invocation& invocation, Targets& targets, const RunOptions& options,
            const std::string& command_line) {
  check(options.sweep, options);
  if (!options.sweep.cluster.empty() && !options.plan)
    run_sweep(options, count_cases(invocation, targets, options), command_line);
  const std::optional<LauncherEnvironment> launcher_env =
      invocation.ranks == Ranks::kStartedHere ? std::nullopt : supervisor::read_launcher_environment();
  Plan planned = plan(invocation, targets, options, launcher_env);
  if (launcher_env && !launcher_env->leads()) return options.plan ? 0 : supervisor::follow(*launcher_env, planned.runs);
  std::optional<supervisor::LeaderOptions> leader_options;
  if (launcher_env)
    leader_options = {*launcher_env, planned.runs,
                      [&](const Summary& ended) { return exit_code(ended, options.fail_on_oom); }};
  remove_finished(planned, options, invocation.device_uuid);
  if (options.plan) return print_plan(planned.runs, options);
  if (!planned.runs.empty())
    return execute_and_report(planned, options, command_line, invocation.show_results,
                              leader_options ? &*leader_options : nullptr);
  if (leader_options) supervisor::release_followers(*leader_options);
  if (!options.saved_copy.empty()) write_progress(options.saved_copy, planned.recorded, planned.recorded, 0);
  if (!invocation.show_results) return 0;
  if (options.json)
    print_json({{"database", options.database.string()},
                {"invocation_id", nullptr},
                {"exit_code", 0},
                {"runs", Json::array()}});
  std::fprintf(stderr, "kymo: nothing to do: every selected case is already in %s or belongs to another shard\n",
               visible(options.database.string()).c_str());
  return 0;
}

}  // namespace kymo::cli
